#pragma once

#include <ATen/core/Tensor.h>

namespace fedvg::kernels {

/// sum += factor x. By this thread's loops (active()) where x is float32, sum float64 and both
/// are dense on a CPU; everything else is libtorch's operator. The product is exact to the last
/// bit before it is added (a fused multiply-add), as in libtorch.
void add_scaled(const at::Tensor& sum, const at::Tensor& x, double factor);

/// False: NaN or an infinity is among its numbers. Integers are finite. By this thread's loops
/// where x is dense float32 on a CPU.
bool all_finite(const at::Tensor& x);

}  // namespace fedvg::kernels
