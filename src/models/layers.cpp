#include "models/layers.h"

#include <ATen/ops/batch_norm.h>
#include <ATen/ops/from_blob.h>
#include <ATen/ops/group_norm.h>
#include <ATen/ops/layer_norm.h>
#include <ATen/ops/ones.h>
#include <ATen/ops/zeros.h>

#include <cmath>
#include <optional>
#include <utility>

#include "kernels/batch_norm.h"
#include "kernels/convolution.h"
#include "kernels/linear.h"
#include "models/live_taps.h"
#include "models/model_memory.h"

namespace fedvg {
namespace {

template <class Draw>
void fill(const at::Tensor& tensor, Draw draw) {
  std::vector<double> values(static_cast<std::size_t>(tensor.numel()));
  for (auto& value : values) value = draw();
  tensor.detach().copy_(at::from_blob(values.data(), tensor.sizes(), at::kDouble));
}

// Fan-in: the numbers of `weight` that make one output.
void fill_by_fan_in(const at::Tensor& weight, const at::Tensor& bias, Random& random) {
  const double bound = 1 / std::sqrt(static_cast<double>(weight.numel() / weight.size(0)));
  fill_uniform(weight, bound, random);
  if (bias.defined()) fill_uniform(bias, bound, random);
}

std::optional<at::Tensor> optional(const at::Tensor& tensor) {
  return tensor.defined() ? std::optional(tensor) : std::nullopt;
}

/// In place: the gradient of a norm does not need its output.
at::Tensor finished(at::Tensor normed, const std::optional<at::Tensor>& residual, bool relu) {
  if (residual) normed.add_(*residual);
  return relu ? normed.relu_() : normed;
}

}  // namespace

std::string TensorList::block_of(const std::string& name) const {
  return block_.empty() ? name.substr(0, name.find('.')) : block_;
}

at::Tensor TensorList::parameter(const std::string& name, const std::vector<std::int64_t>& shape) {
  double taken = 0;
  for (const auto& other : parameters_) taken += tensor_bytes(other.tensor.sizes().vec());
  check_memory_for(name, shape, taken);
  at::Tensor tensor = at::zeros(shape, at::kFloat);
  tensor.set_requires_grad(true);
  parameters_.push_back({name, block_of(name), tensor});
  return tensor;
}

at::Tensor TensorList::buffer(const std::string& name, const at::Tensor& value) {
  buffers_.push_back({name, block_of(name), value});
  return value;
}

void fill_uniform(const at::Tensor& tensor, double bound, Random& random) {
  fill(tensor, [&] { return (2 * random.uniform() - 1) * bound; });
}

void fill_normal(const at::Tensor& tensor, double deviation, Random& random) {
  fill(tensor, [&] { return random.normal() * deviation; });
}

void fill_truncated_normal(const at::Tensor& tensor, double deviation, Random& random) {
  constexpr double kEnd = 2;
  fill(tensor, [&] {
    double value = random.normal() * deviation;
    while (std::abs(value) > kEnd) value = random.normal() * deviation;
    return value;
  });
}

void fill_constant(const at::Tensor& tensor, double value) { tensor.detach().fill_(value); }

Linear::Linear(TensorList& tensors, const std::string& name, std::int64_t in, std::int64_t out,
               bool with_bias)
    : weight(tensors.parameter(name + ".weight", {out, in})) {
  if (with_bias) bias = tensors.parameter(name + ".bias", {out});
}

Linear::Linear(at::Tensor w, at::Tensor b) : weight(std::move(w)), bias(std::move(b)) {}

at::Tensor Linear::forward(const at::Tensor& x, Mode) {
  return kernels::linear(x, weight, optional(bias));
}

void Linear::initialize(Random& random) { fill_by_fan_in(weight, bias, random); }

Conv2d::Conv2d(TensorList& tensors, const std::string& name, const Conv2dShape& shape)
    : weight(
          tensors.parameter(name + ".weight", {shape.out, shape.in, shape.kernel, shape.kernel})),
      stride(shape.stride),
      padding(shape.padding) {
  if (shape.bias) bias = tensors.parameter(name + ".bias", {shape.out});
}

at::Tensor Conv2d::forward(const at::Tensor& x, Mode) {
  return kernels::convolution(x, weight, optional(bias), stride, padding);
}

void Conv2d::crop(LiveTapsWalk& walk) { walk.pass(*this); }

void Conv2d::initialize(Random& random) { fill_by_fan_in(weight, bias, random); }

BatchNorm::BatchNorm(TensorList& tensors, const std::string& name, std::int64_t features)
    : weight(tensors.parameter(name + ".weight", {features})),
      bias(tensors.parameter(name + ".bias", {features})),
      running_mean(tensors.buffer(name + ".running_mean", at::zeros({features}, at::kFloat))),
      running_var(tensors.buffer(name + ".running_var", at::ones({features}, at::kFloat))),
      num_batches_tracked(tensors.buffer(name + ".num_batches_tracked", at::zeros({}, at::kLong))),
      statistics_group(tensors.statistics_group()) {}

at::Tensor BatchNorm::apply(const at::Tensor& x, const std::optional<at::Tensor>& residual,
                            bool relu, Mode mode) {
  constexpr double kEps = 1e-5, kMomentum = 0.1;
  if (mode == Mode::eval) {
    return finished(at::batch_norm(x, weight, bias, running_mean, running_var, /*training=*/false,
                                   kMomentum, kEps, /*cudnn_enabled=*/true),
                    residual, relu);
  }
  const bool own = mode == Mode::batch_statistics;
  if (!own) num_batches_tracked.add_(1);
  const double momentum =
      mode == Mode::cumulative ? 1 / num_batches_tracked.item<double>() : kMomentum;
  return kernels::batch_norm(x, weight, bias, own ? nullptr : &running_mean,
                             own ? nullptr : &running_var, residual,
                             {.momentum = momentum,
                              .eps = kEps,
                              .group = own && statistics_group ? *statistics_group : 0,
                              .relu = relu});
}

void BatchNorm::initialize(Random&) {
  fill_constant(weight, 1);
  fill_constant(bias, 0);
  running_mean.zero_();
  running_var.fill_(1);
  num_batches_tracked.zero_();
}

GroupNorm::GroupNorm(TensorList& tensors, const std::string& name, std::int64_t number,
                     std::int64_t features)
    : weight(tensors.parameter(name + ".weight", {features})),
      bias(tensors.parameter(name + ".bias", {features})),
      groups(number) {}

at::Tensor GroupNorm::apply(const at::Tensor& x, const std::optional<at::Tensor>& residual,
                            bool relu, Mode) {
  return finished(at::group_norm(x, groups, weight, bias, /*eps=*/1e-5), residual, relu);
}

void GroupNorm::initialize(Random&) {
  fill_constant(weight, 1);
  fill_constant(bias, 0);
}

LayerNorm::LayerNorm(TensorList& tensors, const std::string& name, std::int64_t features)
    : weight(tensors.parameter(name + ".weight", {features})),
      bias(tensors.parameter(name + ".bias", {features})) {}

at::Tensor LayerNorm::forward(const at::Tensor& x, Mode) {
  return at::layer_norm(x, weight.sizes(), weight, bias, /*eps=*/1e-6);
}

void LayerNorm::initialize(Random&) {
  fill_constant(weight, 1);
  fill_constant(bias, 0);
}

}  // namespace fedvg
