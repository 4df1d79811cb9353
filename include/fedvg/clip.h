#pragma once

#include <ATen/core/Tensor.h>

namespace fedvg {

/// Scales a gradient by min(1, max_norm / (||g||_2 + 1e-6)), as PyTorch's clip_grad_norm_
/// does; 0 leaves it alone.
void clip_to_norm(at::Tensor& gradient, double max_norm);

}  // namespace fedvg
