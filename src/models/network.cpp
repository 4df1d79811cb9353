#include "models/network.h"

#include <ATen/ops/batch_norm.h>
#include <ATen/ops/conv2d.h>
#include <ATen/ops/empty.h>
#include <ATen/ops/from_blob.h>
#include <ATen/ops/linear.h>
#include <ATen/ops/max_pool2d.h>
#include <ATen/ops/ones.h>
#include <ATen/ops/relu.h>
#include <ATen/ops/tanh.h>
#include <ATen/ops/zeros.h>

#include <cmath>
#include <optional>

namespace fedvg {
namespace {

// Row-major whatever the tensor's strides, so that the memory format does not change
// which number lands where.
void fill_uniform(at::Tensor& tensor, double bound, Random& random) {
  if (!tensor.defined()) return;
  std::vector<double> values(static_cast<std::size_t>(tensor.numel()));
  for (auto& value : values) value = (2 * random.uniform() - 1) * bound;
  tensor.detach().copy_(at::from_blob(values.data(), tensor.sizes(), at::kDouble));
}

// Fan-in: the numbers of `weight` that make one output.
void fill_by_fan_in(at::Tensor& weight, at::Tensor& bias, Random& random) {
  const auto fan_in = static_cast<double>(weight.numel() / weight.size(0));
  fill_uniform(weight, 1 / std::sqrt(fan_in), random);
  fill_uniform(bias, 1 / std::sqrt(fan_in), random);
}

std::optional<at::Tensor> optional(const at::Tensor& tensor) {
  return tensor.defined() ? std::optional(tensor) : std::nullopt;
}

struct Linear final : Layer {
  at::Tensor weight, bias;
  at::Tensor forward(const at::Tensor& x, Mode) override {
    return at::linear(x, weight, optional(bias));
  }
  void initialize(Random& random) override { fill_by_fan_in(weight, bias, random); }
};

struct Conv2d final : Layer {
  at::Tensor weight, bias;
  std::int64_t stride = 1, padding = 0;
  at::Tensor forward(const at::Tensor& x, Mode) override {
    return at::conv2d(x, weight, optional(bias), stride, padding);
  }
  void initialize(Random& random) override { fill_by_fan_in(weight, bias, random); }
};

struct BatchNorm final : Layer {
  at::Tensor weight, bias, running_mean, running_var, num_batches_tracked;
  at::Tensor forward(const at::Tensor& x, Mode mode) override {
    const bool own = mode == Mode::batch_statistics;
    if (mode == Mode::train || mode == Mode::cumulative) num_batches_tracked.add_(1);
    const double momentum = mode == Mode::cumulative ? 1 / num_batches_tracked.item<double>() : 0.1;
    return at::batch_norm(x, weight, bias, own ? std::nullopt : std::optional(running_mean),
                          own ? std::nullopt : std::optional(running_var), mode != Mode::eval,
                          momentum, /*eps=*/1e-5, /*cudnn_enabled=*/true);
  }
  void initialize(Random&) override {
    weight.detach().fill_(1);
    bias.detach().zero_();
    running_mean.zero_();
    running_var.fill_(1);
    num_batches_tracked.zero_();
  }
};

template <class Function>
struct Plain final : Layer {
  Function function;
  explicit Plain(Function f) : function(f) {}
  at::Tensor forward(const at::Tensor& x, Mode) override { return function(x); }
};

template <class Function>
std::unique_ptr<Layer> plain(Function function) {
  return std::make_unique<Plain<Function>>(function);
}

std::string first_component(const std::string& name) { return name.substr(0, name.find('.')); }

}  // namespace

at::Tensor Network::parameter(const std::string& name, std::vector<std::int64_t> shape) {
  at::Tensor tensor = at::zeros(shape, at::kFloat);
  tensor.set_requires_grad(true);
  parameters_.push_back({name, first_component(name), tensor});
  return tensor;
}

at::Tensor Network::buffer(const std::string& name, at::Tensor value) {
  buffers_.push_back({name, first_component(name), value});
  return value;
}

Network& Network::linear(const std::string& name, std::int64_t in, std::int64_t out, bool bias) {
  auto layer = std::make_unique<Linear>();
  layer->weight = parameter(name + ".weight", {out, in});
  if (bias) layer->bias = parameter(name + ".bias", {out});
  classifier_ = layers_.size();
  layers_.push_back(std::move(layer));
  return *this;
}

Network& Network::conv2d(const std::string& name, std::int64_t in, std::int64_t out,
                         std::int64_t kernel, std::int64_t stride, std::int64_t padding,
                         bool bias) {
  auto layer = std::make_unique<Conv2d>();
  layer->weight = parameter(name + ".weight", {out, in, kernel, kernel});
  if (bias) layer->bias = parameter(name + ".bias", {out});
  layer->stride = stride;
  layer->padding = padding;
  convolves_ = true;
  layers_.push_back(std::move(layer));
  return *this;
}

Network& Network::batch_norm(const std::string& name, std::int64_t features) {
  auto layer = std::make_unique<BatchNorm>();
  layer->weight = parameter(name + ".weight", {features});
  layer->bias = parameter(name + ".bias", {features});
  layer->running_mean = buffer(name + ".running_mean", at::zeros({features}, at::kFloat));
  layer->running_var = buffer(name + ".running_var", at::ones({features}, at::kFloat));
  layer->num_batches_tracked = buffer(name + ".num_batches_tracked", at::zeros({}, at::kLong));
  layers_.push_back(std::move(layer));
  return *this;
}

Network& Network::relu() {
  layers_.push_back(plain([](const at::Tensor& x) { return at::relu(x); }));
  return *this;
}

Network& Network::tanh() {
  layers_.push_back(plain([](const at::Tensor& x) { return at::tanh(x); }));
  return *this;
}

Network& Network::max_pool(std::int64_t kernel) {
  layers_.push_back(plain([kernel](const at::Tensor& x) { return at::max_pool2d(x, kernel); }));
  return *this;
}

Network& Network::flatten() {
  layers_.push_back(plain([](const at::Tensor& x) { return x.flatten(1); }));
  return *this;
}

Network& Network::global_avg_pool() {
  layers_.push_back(plain([](const at::Tensor& x) { return x.mean({2, 3}); }));
  return *this;
}

Output Network::forward(const at::Tensor& images, Mode mode) {
  Output output;
  at::Tensor x = images;
  for (std::size_t i = 0; i < layers_.size(); ++i) {
    if (i == classifier_) output.features = x;
    x = layers_[i]->forward(x, mode);
  }
  output.logits = x;
  return output;
}

void Network::initialize(Random& random) {
  for (auto& layer : layers_) layer->initialize(random);
}

}  // namespace fedvg
