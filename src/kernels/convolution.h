#pragma once

#include <ATen/core/Tensor.h>

#include <cstdint>
#include <optional>

namespace fedvg::kernels {

/// at::conv2d(x, weight, bias, stride, padding), [N, in, H, W] and [out, in, kh, kw], by this
/// thread's loops (active()) where they are the faster ones: float32 on a CPU, both tensors with
/// channels_last strides, channels in multiples of 16, an output of at most 12x12; with AVX2
/// narrower than 8 (wider ones leave its tiles half empty). Everything else is at::conv2d itself.
///
/// Against float64 the loops are as exact as libtorch's, but not bitwise equal to them, nor is
/// one instruction set to another. A tap that meets only padding is not computed: its gradient
/// is exactly 0 whatever the gradient of the output, NaN included.
at::Tensor convolution(const at::Tensor& x, const at::Tensor& weight,
                       const std::optional<at::Tensor>& bias, std::int64_t stride,
                       std::int64_t padding);

}  // namespace fedvg::kernels
