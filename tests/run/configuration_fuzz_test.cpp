#include <string>
#include <string_view>
#include <vector>

#include "config/overrides.h"
#include "fuzz/target.h"
#include "run/configuration.h"

namespace fedvg::fuzz {

// A comment "#--set KEY=VALUE" is an override as well.
static std::vector<config::Override> overrides_in(std::string_view text) {
  constexpr std::string_view kMark = "#--set ";
  std::vector<config::Override> overrides;
  for (std::size_t at = text.find(kMark); at != std::string_view::npos;
       at = text.find(kMark, at + 1)) {
    const std::string_view rest = text.substr(at + kMark.size());
    overrides.push_back(config::read_override(std::string(rest.substr(0, rest.find('\n')))));
  }
  return overrides;
}

// What is read, written and read again is the same.
FEDVG_FUZZ_TARGET(configuration, bytes) {
  std::string text;
  const auto read = [&] {
    text =
        load_configuration_text(text_of(bytes), "fuzz.toml", overrides_in(text_of(bytes))).text();
  };
  if (!accepts("", read)) return;
  require(load_configuration_text(text, "again.toml").text() == text,
          "another configuration comes back");
}

}  // namespace fedvg::fuzz
