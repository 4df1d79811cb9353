#include "data/class_mapping.h"

#include <string>
#include <vector>

#include "data/cifar_classes.h"
#include "fuzz/memory_file.h"
#include "fuzz/target.h"

namespace fedvg::fuzz {

FEDVG_FUZZ_TARGET(class_mapping, bytes) {
  static MemoryFile memory;
  static const auto own = official_cifar_classes(CifarLayout::cifar10, CifarLabels::fine);
  static const auto foreign = official_cifar_classes(CifarLayout::cifar100, CifarLabels::fine);
  const std::string path = memory.put(bytes);
  accepts(path, [&] {
    const ClassMapping mapping = read_class_mapping(path, own, foreign);
    require(mapping.size() == foreign.size(), "a class without an entry");
    for (const std::int64_t mapped : mapping) {
      require(mapped >= -1 && mapped < std::ssize(own), "a class that is none");
    }
  });
}

}  // namespace fedvg::fuzz
