#pragma once

#include <ATen/core/Tensor.h>

#include <optional>

namespace fedvg::kernels {

/// at::linear(x, weight, bias), x [N, in] and weight [out, in], by linear_by_onednn where the
/// thread has loops (active()) and that is faster: on processors other than Intel's, products of
/// at least 4 million multiply-adds. libtorch hands float32 to MKL, which reaches half of what
/// oneDNN does on those, and at least as much on Intel's. Everything else is at::linear itself.
at::Tensor linear(const at::Tensor& x, const at::Tensor& weight,
                  const std::optional<at::Tensor>& bias);

/// at::linear with its three products, forward and backward, by oneDNN: where libtorch offers
/// that, and for dense float32 matrices on a CPU. Everything else is at::linear itself.
///
/// Never less exact than float32: oneDNN is left out when the environment
/// (ONEDNN_DEFAULT_FPMATH_MODE) lets it round float32 to bf16, which processors with AMX then do.
/// A program that allows that to libtorch as a whole (setFloat32Precision) gets it from at::linear
/// itself. The backward cannot be differentiated again.
at::Tensor linear_by_onednn(const at::Tensor& x, const at::Tensor& weight,
                            const std::optional<at::Tensor>& bias);

}  // namespace fedvg::kernels
