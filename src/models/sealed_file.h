#pragma once

#include <map>
#include <string>
#include <vector>

#include "models/safetensors.h"

// A safetensors file that knows whether it is whole: its metadata hold a hash of all else in it.
// Of what a run must be able to rely on after a crash: checkpoints, clients' states.

namespace fedvg {

/// `metadata` with the hash of `tensors` and of itself, for encode_safetensors().
std::map<std::string, std::string> sealed(const std::vector<NamedArray>& tensors,
                                          std::map<std::string, std::string> metadata);

/// Reads a file back. Throws DataError naming it when it is damaged, or was never sealed.
TensorFile read_sealed(const std::string& path);

}  // namespace fedvg
