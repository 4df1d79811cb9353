#include <optional>
#include <string>

#include "config/toml_file.h"
#include "fuzz/target.h"

namespace fedvg::fuzz {

// What is read, written and read again is the same.
FEDVG_FUZZ_TARGET(toml, bytes) {
  accepts("fuzz.toml", [&] { config::read_toml(text_of(bytes), "fuzz.toml"); });
  if (const auto value = config::read_toml_value(text_of(bytes), {"--set", 0})) {
    const auto again = config::read_toml_value(value->text(), {"--set", 0});
    require(again && again->text() == value->text(), "another value comes back");
  }
  Table table;
  const auto read = [&] { table = config::read_toml(text_of(bytes), "fuzz.toml"); };
  if (!accepts("fuzz.toml", read)) return;
  const Table again = config::read_toml(config::write_toml(table), "again.toml");
  require(config::write_toml(again) == config::write_toml(table), "another document comes back");
}

}  // namespace fedvg::fuzz
