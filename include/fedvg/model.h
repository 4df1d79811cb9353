#pragma once

#include <ATen/core/Tensor.h>

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "fedvg/random.h"

namespace fedvg {

/// What BatchNorm does in a forward pass; nothing else in the built-in models differs. In a
/// TorchScript file dropout is at work in `train` only.
enum class Mode {
  train,             ///< statistics of the batch, running statistics follow (momentum 0.1)
  cumulative,        ///< the same, but running statistics are the mean over all batches
  eval,              ///< running statistics
  batch_statistics,  ///< statistics of the batch, nothing updated: how FedVG scores
};

struct Output {
  at::Tensor logits;    ///< [B, classes]
  at::Tensor features;  ///< [B, F], the input of the classifier; see Model::give_features()
};

/// A named tensor of a model. Handles share storage: writing to `tensor` changes the model.
struct NamedTensor {
  std::string name;   ///< "conv1.weight"
  std::string block;  ///< granularity = "block": first name component unless the model says else
  at::Tensor tensor;
};

/// What the data asks of a model.
struct ModelInput {
  std::int64_t channels = 1, height = 28, width = 28;
  std::int64_t classes = 10;
};

/// Of a convolution's kernel the rectangle outside which no tap meets a pixel at any output.
struct LiveTaps {
  std::size_t parameter;  ///< index of the weight, [out, in, rows, columns]
  std::int64_t top, left, height, width;
};

/// A network: named parameters and buffers in a fixed order, and a forward pass.
/// One object belongs to one worker; it is not safe for two threads.
class Model {
 public:
  virtual ~Model() = default;

  /// `images` is [B, C, H, W] (or [B, F] for a network of features only).
  virtual Output forward(const at::Tensor& images, Mode mode) = 0;

  /// Trainable, in model order.
  std::vector<NamedTensor>& parameters() { return parameters_; }
  const std::vector<NamedTensor>& parameters() const { return parameters_; }
  /// Running statistics and counters, in model order.
  std::vector<NamedTensor>& buffers() { return buffers_; }
  const std::vector<NamedTensor>& buffers() const { return buffers_; }

  /// True when its convolutions run faster on channels_last images; `plain`: in float32 or float64
  /// on a processor, by libtorch alone, without loops of our own (engine.kernels).
  virtual bool channels_last(bool /*plain*/) const { return false; }
  /// True when a training batch of one image has no statistics: it is skipped.
  bool has_batch_norm() const { return !buffers_.empty(); }

  /// Channels that forward() takes, where the model has a say in it: gray images are
  /// repeated to three for it.
  virtual std::int64_t input_channels() const { return 0; }  ///< 0: those of the data
  /// Name of the classifier, "fc": its tensors, "fc.weight" and "fc.bias", are what another
  /// number of classes changes. Empty: unknown.
  virtual std::string head() const { return {}; }

  /// Asks for Output::features from now on; false: the model has none. Networks for which
  /// they cost nothing always give them.
  virtual bool give_features() { return true; }
  /// True: set_statistics_group() is heeded, and worth its while.
  bool groups_statistics() const { return groups_statistics_; }
  /// In Mode::batch_statistics so many images after one another share their BatchNorm
  /// statistics, as if each group were a batch of its own; 0: all of the batch.
  void set_statistics_group(std::int64_t images) { statistics_group_ = images; }

  /// True when training draws from libtorch's one generator, which threads share: dropout.
  virtual bool draws_from_torch() const { return false; }
  /// What of it may surprise, to be said at start.
  virtual std::vector<std::string> notes() const { return {}; }

  /// Makes kernels of convolutions of which some taps meet nothing but padding on such images
  /// smaller by those taps: outputs, and gradients of what is left, are the same. Called before
  /// the tensors are used; what initialize() draws afterwards is no longer the network's.
  virtual std::vector<LiveTaps> crop_to_live_taps(const ModelInput&) { return {}; }

  /// Draws initial values, in model order, from one stream; a network out of a file starts
  /// with what the file holds.
  virtual void initialize(Random& random) = 0;

 protected:
  std::vector<NamedTensor> parameters_;
  std::vector<NamedTensor> buffers_;
  bool groups_statistics_ = false;
  std::int64_t statistics_group_ = 0;
};

/// Builds one kind of network, registered by name (`[model] name = "cnn"`).
class ModelBuilder {
 public:
  static constexpr const char* kind = "model";
  virtual ~ModelBuilder() = default;
  /// Throws OptionError when such images do not fit the network, with the smallest size.
  virtual std::unique_ptr<Model> build(const ModelInput& input) const = 0;
};

}  // namespace fedvg
