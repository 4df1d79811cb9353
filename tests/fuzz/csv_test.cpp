#include <string>

#include "data/csv_set.h"
#include "fuzz/memory_file.h"
#include "fuzz/target.h"
#include "fuzz/whole_samples.h"

namespace fedvg::fuzz {

FEDVG_FUZZ_TARGET(csv, bytes) {
  static MemoryFile memory;
  const std::string path = memory.put(bytes);
  const auto read = [&](const std::string& test, const std::string& owner) {
    accepts("", [&] {
      const CsvFiles files{
          .training = path, .test = test, .ignored = {"id"}, .may_lack_ignored = true};
      check_and_require_whole(read_csv_set(files, {.owner_column = owner}));
    });
  };
  read("", "");
  read(path, "client");
}

}  // namespace fedvg::fuzz
