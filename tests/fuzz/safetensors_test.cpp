#include "models/safetensors.h"

#include <algorithm>
#include <cstddef>
#include <string>
#include <vector>

#include "fuzz/memory_file.h"
#include "fuzz/target.h"

namespace fedvg::fuzz {

static TensorFile by_name(TensorFile file) {
  std::ranges::sort(file.tensors, {}, &NamedArray::name);
  return file;
}

// What is read, written and read again is the same.
FEDVG_FUZZ_TARGET(safetensors, bytes) {
  static MemoryFile memory;
  const std::string path = memory.put(bytes);
  TensorFile file;
  if (!accepts(path, [&] { file = by_name(read_safetensors(path)); })) return;
  std::vector<std::uint8_t> written;
  encode_safetensors(file.tensors, file.metadata, [&](std::span<const std::byte> piece) {
    const auto* first = reinterpret_cast<const std::uint8_t*>(piece.data());
    written.insert(written.end(), first, first + piece.size());
  });
  const TensorFile again = by_name(read_safetensors(memory.put(written)));
  require(again.tensors == file.tensors, "other tensors come back");
  require(again.metadata == file.metadata, "other metadata comes back");
}

}  // namespace fedvg::fuzz
