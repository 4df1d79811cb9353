#pragma once

#include <ATen/core/Tensor.h>

#include <string>

#include "models/safetensors.h"

namespace fedvg {

/// A row-major copy of the tensor's values in main memory. Throws RunError for a type that
/// safetensors does not know.
NamedArray to_array(const std::string& name, const at::Tensor& tensor);

/// The tensor of an array, in main memory.
at::Tensor to_tensor(const NamedArray& array);

}  // namespace fedvg
