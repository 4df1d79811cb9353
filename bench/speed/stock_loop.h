#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>

#include "fedvg/options.h"

// What the engine is measured against: the loop that anybody would write with libtorch's own
// modules and optimizer, without a federation around it. No tensor type in sight, so that only
// one file pays for torch/torch.h.

namespace fedvg {

/// A network that the stock loop has as well.
struct StockModel {
  enum class Kind { cnn, resnet18 };
  Kind kind = Kind::cnn;
  bool cifar_stem = false;  ///< of resnet18: 3x3, stride 1, no pooling
  std::int64_t channels = 1, height = 28, width = 28, classes = 10;
};

/// `model` (of kind "model") on images of so many channels; nothing where the stock loop has no
/// such network.
std::optional<StockModel> stock_model(const Part& model, std::int64_t channels, std::int64_t height,
                                      std::int64_t width, std::int64_t classes);

/// Multiply-adds of convolutions and linear layers for one image, padding included.
struct MultiplyAdds {
  std::int64_t forward;
  std::int64_t first_layer;  ///< of `forward`: its input needs no gradient

  /// Floating-point operations of one image in training or scoring: forward, gradient of the
  /// weights, gradient of the inputs.
  double training_flops() const {
    return 2 * (3 * static_cast<double>(forward) - static_cast<double>(first_layer));
  }
};

MultiplyAdds multiply_adds(const StockModel& model);

enum class MemoryFormat { channels_last, contiguous };
const char* name_of(MemoryFormat format);

struct StockWork {
  std::int64_t train_batch = 32, score_batch = 32;
  bool score_with_batch_statistics = true;  ///< of BatchNorm; else running ones
};

/// torch::nn modules, torch::optim::SGD with a rate of 0.01, cross-entropy, random float images
/// that lie in memory already. Belongs to one thread, which it is made in.
class StockLoop {
 public:
  virtual ~StockLoop() = default;

  // Batch after batch, in a new order each epoch, until `seconds` are over or `stop` is true;
  // images per second.
  virtual double train(double seconds, const std::atomic<bool>& stop) = 0;
  /// Gradient of the loss over all images, and its norm by tensor, again and again.
  virtual double score(double seconds, const std::atomic<bool>& stop) = 0;

  virtual std::int64_t parameters() const = 0;
};

/// Of libtorch's operations in the thread that calls this.
void keep_to_threads(std::int64_t threads);

std::unique_ptr<StockLoop> make_stock_loop(const StockModel& model, const StockWork& work,
                                           MemoryFormat format);

}  // namespace fedvg
