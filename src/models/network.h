#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "fedvg/model.h"

namespace fedvg {

/// One step of a Network. Holds handles of the tensors that the network registered.
class Layer {
 public:
  virtual ~Layer() = default;
  virtual at::Tensor forward(const at::Tensor& x, Mode mode) = 0;
  virtual void initialize(Random&) {}
};

/// Layers one after another; `features` of the output is the input of the last linear
/// layer. Tensors are named NAME.weight, NAME.bias, NAME.running_mean, NAME.running_var,
/// NAME.num_batches_tracked, as PyTorch's modules name them; weights start as PyTorch's
/// defaults: uniform in +-1/sqrt(fan_in), BatchNorm at 1 and 0.
///
///     Network net;
///     net.conv2d("conv1", 1, 32, 5).relu().max_pool(2).flatten().linear("fc", 4608, 10);
class Network : public Model {
 public:
  Network& linear(const std::string& name, std::int64_t in, std::int64_t out, bool bias = true);
  Network& conv2d(const std::string& name, std::int64_t in, std::int64_t out, std::int64_t kernel,
                  std::int64_t stride = 1, std::int64_t padding = 0, bool bias = true);
  /// momentum 0.1, eps 1e-5, unbiased running variance.
  Network& batch_norm(const std::string& name, std::int64_t features);
  Network& relu();
  Network& tanh();
  Network& max_pool(std::int64_t kernel);
  Network& flatten();          ///< to [B, everything]
  Network& global_avg_pool();  ///< [B, C, H, W] to [B, C]

  Output forward(const at::Tensor& images, Mode mode) override;
  void initialize(Random& random) override;
  bool channels_last() const override { return convolves_; }

 private:
  at::Tensor parameter(const std::string& name, std::vector<std::int64_t> shape);
  at::Tensor buffer(const std::string& name, at::Tensor value);

  std::vector<std::unique_ptr<Layer>> layers_;
  std::size_t classifier_ = 0;  ///< index of the last linear layer
  bool convolves_ = false;
};

}  // namespace fedvg
