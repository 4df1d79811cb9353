#include <string>

#include "data/partition_file.h"
#include "fuzz/memory_file.h"
#include "fuzz/target.h"

namespace fedvg::fuzz {

// What is read, written and read again is the same.
FEDVG_FUZZ_TARGET(partition, bytes) {
  static MemoryFile memory;
  const DataIdentity data = {"fashion-mnist", 12, "0123456789abcdef"};
  for (const bool overlap : {false, true}) {
    const std::string path = memory.put(bytes);
    Partition partition;
    if (!accepts(path, [&] { partition = read_partition_file(path, data, overlap); })) continue;
    const IndexList validation = partition.validation.value_or(IndexList{});
    const std::string text =
        partition_file_text(partition.clients, validation, {}, "fuzz", data, partition.test);
    memory.put({reinterpret_cast<const std::uint8_t*>(text.data()), text.size()});
    const Partition again = read_partition_file(path, data, overlap);
    require(again.clients == partition.clients, "other clients come back");
    require(again.validation == validation, "another validation set comes back");
    require(again.test == partition.test, "another test set comes back");
  }
}

}  // namespace fedvg::fuzz
