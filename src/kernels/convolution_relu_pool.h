#pragma once

#include <ATen/core/Tensor.h>

#include <optional>

namespace fedvg::kernels {

/// relu_max_pool(convolution(x, weight, bias, 1, 0)), [N, in, H, W] and [out, in, kh, kw]: a first
/// layer and its pool in one.
///
/// By this thread's loops (active()) where x are images that need no gradient, of at most 8
/// channels, and x and weight are float32 on a CPU with channels_last strides, output channels a
/// multiple of 16, the map before the pool at least 2x2. Everything else is those two operators.
/// Against float64 the loops are as exact as libtorch's, but not bitwise equal to them. Keeps x
/// and one byte for each number of its output for the backward, which cannot be differentiated
/// again.
at::Tensor convolution_relu_pool(const at::Tensor& x, const at::Tensor& weight,
                                 const std::optional<at::Tensor>& bias);

}  // namespace fedvg::kernels
