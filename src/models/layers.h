#pragma once

#include <ATen/core/Tensor.h>

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "fedvg/model.h"

// Layers of the built-in models. A layer adds its tensors to a model when it is made, named
// NAME.weight, NAME.bias, NAME.running_mean, … as PyTorch's modules name them, and keeps
// handles of them.

namespace fedvg {

/// Adds tensors to a model under their names.
class TensorList {
 public:
  /// `statistics_group`: Model's, for the BatchNorms; null: they know none.
  TensorList(std::vector<NamedTensor>& parameters, std::vector<NamedTensor>& buffers,
             const std::int64_t* statistics_group = nullptr)
      : parameters_(parameters), buffers_(buffers), statistics_group_(statistics_group) {}

  const std::int64_t* statistics_group() const { return statistics_group_; }

  /// Of the tensors that follow; empty: the first component of each one's name.
  void set_block(const std::string& block) { block_ = block; }

  /// Zeros that can be trained. Throws ModelTooLarge before it asks for memory that the machine
  /// does not have.
  at::Tensor parameter(const std::string& name, const std::vector<std::int64_t>& shape);
  at::Tensor buffer(const std::string& name, const at::Tensor& value);

 private:
  std::string block_of(const std::string& name) const;

  std::vector<NamedTensor>& parameters_;
  std::vector<NamedTensor>& buffers_;
  const std::int64_t* statistics_group_;
  std::string block_;
};

// Draws are row-major whatever the tensor's strides, so that the memory format does not
// change which number lands where.
void fill_uniform(const at::Tensor& tensor, double bound, Random& random);  ///< in [-bound, bound)
void fill_normal(const at::Tensor& tensor, double deviation, Random& random);
/// Redrawn beyond -2 and 2, as PyTorch's trunc_normal_ has it unless told otherwise.
void fill_truncated_normal(const at::Tensor& tensor, double deviation, Random& random);
void fill_constant(const at::Tensor& tensor, double value);

class LiveTapsWalk;

/// One step of a model.
class Layer {
 public:
  virtual ~Layer() = default;
  virtual at::Tensor forward(const at::Tensor& x, Mode mode) = 0;
  /// Crops kernels and goes on to the maps that come out; most layers do neither.
  virtual void crop(LiveTapsWalk&) {}
  /// As PyTorch does by default.
  virtual void initialize(Random&) {}
};

/// Starts uniform in +-1/sqrt(fan_in), the bias too.
struct Linear final : Layer {
  Linear(TensorList& tensors, const std::string& name, std::int64_t in, std::int64_t out,
         bool bias = true);
  Linear(at::Tensor w, at::Tensor b);  ///< tensors of other names
  at::Tensor forward(const at::Tensor& x, Mode mode) override;
  void initialize(Random& random) override;

  at::Tensor weight, bias;  ///< [out, in]; [out], or undefined
};

struct Conv2dShape {
  std::int64_t in, out, kernel;
  std::int64_t stride = 1, padding = 0;
  bool bias = true;
};

/// Starts as Linear does; its fan-in is in * kernel * kernel.
struct Conv2d final : Layer {
  Conv2d(TensorList& tensors, const std::string& name, const Conv2dShape& shape);
  at::Tensor forward(const at::Tensor& x, Mode mode) override;
  void crop(LiveTapsWalk& walk) override;
  void initialize(Random& random) override;

  at::Tensor weight, bias;
  std::int64_t stride, padding;
};

/// A normalisation and what follows it in a convolutional network.
struct Norm : Layer {
  /// norm(x) [+ residual] [then ReLU], in one where a kernel does that.
  virtual at::Tensor apply(const at::Tensor& x, const std::optional<at::Tensor>& residual,
                           bool relu, Mode mode) = 0;
  at::Tensor forward(const at::Tensor& x, Mode mode) override { return apply(x, {}, false, mode); }
};

/// momentum 0.1, eps 1e-5, unbiased running variance; starts at 1 and 0.
struct BatchNorm final : Norm {
  BatchNorm(TensorList& tensors, const std::string& name, std::int64_t features);
  at::Tensor apply(const at::Tensor& x, const std::optional<at::Tensor>& residual, bool relu,
                   Mode mode) override;
  void initialize(Random& random) override;

  at::Tensor weight, bias, running_mean, running_var, num_batches_tracked;
  const std::int64_t* statistics_group;  ///< images, in Mode::batch_statistics; null: 0
};

/// eps 1e-5; starts at 1 and 0.
struct GroupNorm final : Norm {
  GroupNorm(TensorList& tensors, const std::string& name, std::int64_t groups,
            std::int64_t features);
  at::Tensor apply(const at::Tensor& x, const std::optional<at::Tensor>& residual, bool relu,
                   Mode mode) override;
  void initialize(Random& random) override;

  at::Tensor weight, bias;
  std::int64_t groups;
};

/// Over the last dimension, eps 1e-6 as in transformers of images; starts at 1 and 0.
struct LayerNorm final : Layer {
  LayerNorm(TensorList& tensors, const std::string& name, std::int64_t features);
  at::Tensor forward(const at::Tensor& x, Mode mode) override;
  void initialize(Random& random) override;

  at::Tensor weight, bias;
};

}  // namespace fedvg
