#pragma once

#include <ATen/core/Tensor.h>

#include <string>

namespace fedvg {

/// Throws DataError naming the tensor, how many of its numbers are not finite, and the first.
/// `value` is what is in the file, in the type that it is to have: 1e300 is none in float32.
void check_finite(const std::string& name, const at::Tensor& in_file, const at::Tensor& value);

}  // namespace fedvg
