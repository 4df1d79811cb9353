#include "models/network.h"

#include <ATen/ops/max_pool2d.h>
#include <ATen/ops/relu.h>
#include <ATen/ops/tanh.h>

#include <optional>

#include "kernels/convolution_relu_pool.h"
#include "kernels/relu_max_pool.h"
#include "models/live_taps.h"

namespace fedvg {
namespace {

template <class Function>
struct Plain final : Layer {
  Function function;
  std::int64_t pooled;  ///< pixels of a side that become one
  Plain(Function f, std::int64_t side) : function(f), pooled(side) {}
  at::Tensor forward(const at::Tensor& x, Mode) override { return function(x); }
  void crop(LiveTapsWalk& walk) override { walk.pool(pooled, pooled, 0); }
};

struct ConvolutionReluMaxPool final : Layer {
  Conv2d convolution;
  ConvolutionReluMaxPool(TensorList& tensors, const std::string& name, const Conv2dShape& shape)
      : convolution(tensors, name, shape) {}
  at::Tensor forward(const at::Tensor& x, Mode) override {
    return kernels::convolution_relu_pool(
        x, convolution.weight,
        convolution.bias.defined() ? std::optional(convolution.bias) : std::nullopt);
  }
  void crop(LiveTapsWalk& walk) override {  // without padding every tap meets pixels
    walk.pool(convolution.weight.size(2), 1, 0);
    walk.pool(2, 2, 0);
  }
  void initialize(Random& random) override { convolution.initialize(random); }
};

template <class Function>
std::unique_ptr<Layer> plain(Function function, std::int64_t pooled = 1) {
  return std::make_unique<Plain<Function>>(function, pooled);
}

}  // namespace

Network& Network::linear(const std::string& name, std::int64_t in, std::int64_t out, bool bias) {
  TensorList list = tensors();
  classifier_ = layers_.size();
  head_ = name;
  layers_.push_back(std::make_unique<Linear>(list, name, in, out, bias));
  return *this;
}

Network& Network::conv2d(const std::string& name, std::int64_t in, std::int64_t out,
                         std::int64_t kernel, std::int64_t stride, std::int64_t padding,
                         bool bias) {
  TensorList list = tensors();
  convolves_ = true;
  layers_.push_back(
      std::make_unique<Conv2d>(list, name, Conv2dShape{in, out, kernel, stride, padding, bias}));
  return *this;
}

Network& Network::batch_norm(const std::string& name, std::int64_t features) {
  TensorList list = tensors();
  groups_statistics_ = true;
  layers_.push_back(std::make_unique<BatchNorm>(list, name, features));
  return *this;
}

Network& Network::relu() {
  layers_.push_back(plain([](const at::Tensor& x) { return at::relu(x); }));
  return *this;
}

Network& Network::relu_max_pool() {
  layers_.push_back(plain([](const at::Tensor& x) { return kernels::relu_max_pool(x); }, 2));
  return *this;
}

Network& Network::conv2d_relu_max_pool(const std::string& name, std::int64_t in, std::int64_t out,
                                       std::int64_t kernel) {
  TensorList list = tensors();
  convolves_ = true;
  layers_.push_back(
      std::make_unique<ConvolutionReluMaxPool>(list, name, Conv2dShape{in, out, kernel}));
  return *this;
}

Network& Network::tanh() {
  layers_.push_back(plain([](const at::Tensor& x) { return at::tanh(x); }));
  return *this;
}

Network& Network::max_pool(std::int64_t kernel) {
  layers_.push_back(
      plain([kernel](const at::Tensor& x) { return at::max_pool2d(x, kernel); }, kernel));
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

std::vector<LiveTaps> Network::crop_to_live_taps(const ModelInput& input) {
  LiveTapsWalk walk(parameters_, input);
  for (auto& layer : layers_) layer->crop(walk);
  return walk.cropped();
}

void Network::initialize(Random& random) {
  for (auto& layer : layers_) layer->initialize(random);
}

}  // namespace fedvg
