#include "data/npz.h"

#include <string>

#include "data/npz_set.h"
#include "data/zip_check.h"
#include "fuzz/memory_file.h"
#include "fuzz/target.h"
#include "fuzz/whole_samples.h"

namespace fedvg::fuzz {

FEDVG_FUZZ_TARGET(npz, bytes) {
  static MemoryFile memory;
  const std::string path = memory.put(bytes);
  accepts(path, [&] { check_zip(path); });
  accepts(path, [&] {
    const NpzFile file(path);
    for (const std::string& key : file.keys()) accepts(path, [&] { file.read(key); });
  });
  accepts(path, [&] { check_and_require_whole(read_npz_set(path, {})); });
  accepts("", [&] { check_and_require_whole(read_npz_set(path, {.owner_column = "owner"})); });
  accepts(path, [&] { check_and_require_whole(read_medmnist(path)); });
}

}  // namespace fedvg::fuzz
