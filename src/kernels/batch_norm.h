#pragma once

#include <ATen/core/Tensor.h>

#include <cstdint>
#include <optional>

namespace fedvg::kernels {

struct BatchNormSettings {
  double momentum, eps;
  std::int64_t group = 0;  ///< images that share their statistics; 0: all of the batch
  bool relu = false;
};

/// ReLU(BatchNorm(x) + residual) with the statistics of the batch, x [N, C, H, W]: at::batch_norm
/// in training form, add and relu in one. With `group` images a group every group has its own
/// statistics, as if each were a batch of its own, the last one with the images that remain.
///
/// running_mean and running_var move towards the statistics (the variance is the unbiased one)
/// as ATen's do, group after group; null, and both have to be: they are not touched.
///
/// By this thread's loops (active()) where x and residual are float32 on a CPU with channels_last
/// strides and one shape, channels a multiple of 16, parameters and running statistics dense
/// float32, eps > 0 and at least two values a channel in every group. Everything else is libtorch's
/// operators, group by group. Statistics are the same bits whatever other groups the batch holds.
/// A channel of a group that has a NaN or an infinity becomes NaN, its running mean too. Keeps x,
/// with ReLU also y, and two numbers for each channel and group for the backward, which cannot be
/// differentiated again.
at::Tensor batch_norm(const at::Tensor& x, const at::Tensor& weight, const at::Tensor& bias,
                      at::Tensor* running_mean, at::Tensor* running_var,
                      const std::optional<at::Tensor>& residual, const BatchNormSettings& settings);

}  // namespace fedvg::kernels
