#pragma once

#include <ATen/core/Tensor.h>

namespace fedvg::kernels {

/// at::max_pool2d(at::relu(x), 2), [N, C, H, W]: values, ties and NaN are chosen as these two do,
/// so that outputs and gradients are the same bits.
///
/// By this thread's loops (active()) where x is float32 on a CPU with channels_last strides, any
/// number of channels. Everything else is libtorch's operators. Keeps one byte for each number of
/// its output for the backward, which cannot be differentiated again.
at::Tensor relu_max_pool(const at::Tensor& x);

}  // namespace fedvg::kernels
