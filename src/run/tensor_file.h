#pragma once

#include <filesystem>
#include <map>
#include <string>
#include <vector>

#include "models/safetensors.h"

namespace fedvg {

/// Writes a safetensors file that appears whole or not at all (WholeFile). Throws RunError naming
/// it when it cannot be written.
void write_tensor_file(const std::filesystem::path& path, const std::vector<NamedArray>& tensors,
                       const std::map<std::string, std::string>& metadata);

}  // namespace fedvg
