#include "run/tensor_file.h"

#include "run/whole_file.h"

namespace fedvg {

void write_tensor_file(const std::filesystem::path& path, const std::vector<NamedArray>& tensors,
                       const std::map<std::string, std::string>& metadata) {
  WholeFile file(path);
  encode_safetensors(tensors, metadata,
                     [&](std::span<const std::byte> bytes) { file.append(bytes); });
  file.commit();
}

}  // namespace fedvg
