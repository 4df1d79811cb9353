#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "fedvg/model.h"
#include "models/layers.h"

namespace fedvg {

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
  /// max_pool(2) after relu(), in one.
  Network& relu_max_pool();
  /// conv2d without stride or padding, relu(), max_pool(2), in one.
  Network& conv2d_relu_max_pool(const std::string& name, std::int64_t in, std::int64_t out,
                                std::int64_t kernel);
  Network& tanh();
  Network& max_pool(std::int64_t kernel);
  Network& flatten();          ///< to [B, everything]
  Network& global_avg_pool();  ///< [B, C, H, W] to [B, C]

  Output forward(const at::Tensor& images, Mode mode) override;
  std::vector<LiveTaps> crop_to_live_taps(const ModelInput& input) override;
  void initialize(Random& random) override;
  bool channels_last(bool /*plain*/) const override { return convolves_; }
  std::string head() const override { return head_; }

 private:
  TensorList tensors() { return {parameters_, buffers_, &statistics_group_}; }

  std::vector<std::unique_ptr<Layer>> layers_;
  std::size_t classifier_ = 0;  ///< index of the last linear layer
  std::string head_;            ///< its name
  bool convolves_ = false;
};

}  // namespace fedvg
