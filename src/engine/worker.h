#pragma once

#include <atomic>
#include <memory>
#include <optional>
#include <vector>

#include "engine/engine_options.h"
#include "engine/samples.h"
#include "fedvg/correction.h"
#include "fedvg/local_optimizer.h"
#include "fedvg/model.h"
#include "fedvg/weighting.h"

namespace fedvg {

/// The layout of a model's trainable tensors; channels_last: 4-d weights lie as OHWI.
Layout layout_of(const Model& model, bool channels_last);

/// For each buffer the index of its block among layout.blocks(), or -1.
std::vector<std::int64_t> buffer_blocks_of(const Model& model, const Layout& layout);

/// What one client trains on.
struct LocalData {
  const SampleStore* store = nullptr;
  std::vector<std::int64_t> samples;
  std::vector<std::size_t> fixed_ends;  ///< batches as given (conformance); empty: cut by size
};

/// The rules of local training that all clients share.
struct LocalRules {
  std::int64_t epochs = 1, steps = 0, batch_size = 32;
  bool shuffle = true;
  std::uint64_t seed = 1;
};

/// One resident model with everything that trains, scores and evaluates it. Parameters
/// and gradients are views of one flat vector each. Belongs to one thread.
class Worker final : public Evaluator {
 public:
  struct Validation {
    const SampleStore* store = nullptr;  ///< null: no D_val
    BatchPlan plan;
    Mode mode = Mode::batch_statistics;
  };

  Worker(std::unique_ptr<Model> model, const Layout& layout, at::ScalarType dtype,
         at::Device device, std::unique_ptr<LocalOptimizer> optimizer,
         const Validation& validation);

  /// Takes a model: w [P] and the values of its buffers.
  void load(const at::Tensor& w, const Tensors& buffers);

  /// Local training from the model that was loaded last, which must be `global`. Throws
  /// Interrupted between two batches once `stop` is true. Ends early, with a loss that is
  /// not finite, when a batch's loss is not.
  ClientUpdate train(std::int64_t round, std::int64_t client, const LocalData& data,
                     const LocalRules& rules, const at::Tensor& global,
                     const Correction& correction, const std::atomic<bool>& stop);

  struct Tally {
    double loss_sum = 0;
    std::int64_t right = 0, samples = 0;
  };
  /// Of the loaded model, in evaluation mode.
  Tally evaluate(const SampleStore& store, std::span<const std::int64_t> ids);

  Model& model() { return *model_; }

  // Evaluator
  bool has_validation() const override { return validation_.store != nullptr; }
  const at::Tensor& gradient() override;
  double accuracy() override;
  const Layout& layout() const override { return layout_; }
  std::span<const std::int64_t> buffer_blocks() const override { return buffer_blocks_; }

 private:
  void model_changed();

  std::unique_ptr<Model> model_;
  const Layout& layout_;
  const Validation& validation_;
  std::unique_ptr<LocalOptimizer> optimizer_;
  std::vector<std::int64_t> buffer_blocks_;
  at::Tensor parameters_, gradient_;  ///< [P]
  BatchBuffer batch_buffer_;
  bool gradient_is_validation_ = false;  ///< gradient_ holds D_val's at the current model
  std::optional<double> accuracy_;
};

}  // namespace fedvg
