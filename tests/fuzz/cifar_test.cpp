#include "data/cifar.h"

#include <string>

#include "data/cifar_classes.h"
#include "fuzz/memory_file.h"
#include "fuzz/target.h"
#include "fuzz/whole_samples.h"

namespace fedvg::fuzz {

FEDVG_FUZZ_TARGET(cifar, bytes) {
  static MemoryFile memory;
  const std::string path = memory.put(bytes);
  const auto found = cifar_layout_of(path);
  for (const auto layout : {CifarLayout::cifar10, CifarLayout::cifar100}) {
    for (const auto labels : {CifarLabels::fine, CifarLabels::coarse}) {
      const bool whole = accepts(path, [&] {
        require_whole(read_cifar_files({path}, layout, labels),
                      official_cifar_classes(layout, labels).size());
      });
      require(whole || found != layout, "a file of records is refused");
    }
  }
}

}  // namespace fedvg::fuzz
