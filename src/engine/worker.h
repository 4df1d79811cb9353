#pragma once

#include <atomic>
#include <functional>
#include <memory>
#include <optional>
#include <vector>

#include "engine/client_state.h"
#include "engine/metrics.h"
#include "engine/samples.h"
#include "fedvg/correction.h"
#include "fedvg/local_optimizer.h"
#include "fedvg/model.h"
#include "fedvg/weighting.h"

namespace fedvg {

/// The layout of a model's trainable tensors; channels_last: 4-d weights lie as OHWI. Those of
/// `cropped` have a tail of `tail` numbers.
Layout layout_of(const Model& model, bool channels_last, std::span<const LiveTaps> cropped = {},
                 std::int64_t tail = 0);

/// For each buffer the index of its block among layout.blocks(), or -1.
std::vector<std::int64_t> buffer_blocks_of(const Model& model, const Layout& layout);

/// A network whose parameters are views of one flat vector.
struct Resident {
  std::unique_ptr<Model> model;
  at::Tensor parameters;  ///< [P]
  void load(const at::Tensor& w, const Tensors& buffers);
};
/// Parameters are 0; type and device are those of `options`.
Resident make_resident(std::unique_ptr<Model> model, const Layout& layout,
                       const at::TensorOptions& options);

/// What one client trains on.
struct LocalData {
  const SampleStore* store = nullptr;
  std::vector<std::int64_t> samples;
  std::vector<std::size_t> fixed_ends;  ///< batches as given (conformance); empty: cut by size
  std::vector<std::vector<std::int64_t>> fixed_probe;  ///< Elastic's, as given (conformance)
};

/// What becomes of running statistics: averaged like the model, kept by each client, or
/// started anew by each participant.
enum class BufferRule { global, local, reset };

/// The rules of local training that all clients share.
struct LocalRules {
  std::int64_t epochs = 1, steps = 0, batch_size = 32;
  bool shuffle = true;
  double clip = 0;              ///< largest l2 norm of a corrected gradient; 0: off
  bool keep_optimizer = false;  ///< its state lives in the client's state, not for a round
  BufferRule buffers = BufferRule::global;
  std::uint64_t seed = 1;
  Augmentation augmentation = {};  ///< of the batches of local training, of nothing else
  std::optional<at::Tensor> class_weights = {};  ///< [C], of the task's loss; absent: all alike
};

/// What a round gives every participant.
struct RoundStart {
  std::int64_t round = 1;
  const at::Tensor& global;  ///< w, [P]
  const Tensors& buffers;
  const TensorMap& inbox;  ///< Correction::broadcast
  double learning_rate;    ///< of local training
};

/// One resident model with everything that trains, scores and evaluates it. Parameters
/// and gradients are views of one flat vector each. Belongs to one thread.
class Worker final : public Evaluator, private LocalTools {
 public:
  struct Validation {
    const SampleStore* store = nullptr;  ///< null: no D_val
    BatchPlan plan;
    Mode mode = Mode::batch_statistics;
    /// Under scoring.budget the plan's batches that this round is scored on, and into how many
    /// groups of neighbours they are cut; no batches: all, in one.
    std::vector<std::size_t> scored = {};
    std::size_t groups = 1;
  };

  Worker(std::function<std::unique_ptr<Model>()> build_model, const Layout& layout,
         const ImageFormat& format, std::unique_ptr<LocalOptimizer> optimizer,
         const Validation& validation);

  /// Takes a model: w [P] and the values of its buffers.
  void load(const at::Tensor& w, const Tensors& buffers);

  /// Local training from the round's global model, which is loaded first. `state` is what
  /// the client kept; `next` receives what it wants kept. Throws Interrupted between two
  /// batches once `stop` is true, also in gradient() afterwards. Ends early, with a loss that is
  /// not finite, when a batch's loss is not.
  ClientUpdate train(const RoundStart& start, std::int64_t client, const LocalData& data,
                     const LocalRules& rules, const Correction& correction,
                     const ClientState& state, ClientState& next, const std::atomic<bool>& stop);

  /// A client that sends `factor` times what it learned from the global model w: the update
  /// becomes that, and the model held, which is scored next, w + update.
  void exaggerate(ClientUpdate& update, const at::Tensor& w, double factor);

  /// Buffers of the global model w from one pass over D_val: the mean of its batches'
  /// statistics.
  Tensors buffers_from_validation(const at::Tensor& w);

  struct Tally {
    double loss_sum = 0;
    std::int64_t right = 0, samples = 0;
  };
  /// Of the loaded model, in evaluation mode. What it says about each sample goes into
  /// `predictions`, where there is one.
  Tally evaluate(const SampleStore& store, std::span<const std::int64_t> ids,
                 Predictions* predictions = nullptr);

  Model& model() { return *own_.model; }

  // Evaluator
  bool has_validation() const override { return validation_.store != nullptr; }
  const at::Tensor& gradient() override;
  const at::Tensor& gradient_by_groups(const GroupVisitor& see) override;
  std::int64_t validation_images() const override {
    return static_cast<std::int64_t>(validation_.plan.ids.size());
  }
  double accuracy() override;
  const Layout& layout() const override { return layout_; }
  std::span<const std::int64_t> buffer_blocks() const override { return buffer_blocks_; }

 private:
  // LocalTools
  void gradient_of(std::span<const std::int64_t> samples, Mode mode, bool add) override;
  void load_replica(std::size_t slot, const at::Tensor& w, const Tensors& buffers) override;
  at::Tensor replica_features(std::size_t slot, const at::Tensor& images) override;

  void model_changed();
  /// Local training from the model held, over the plan's batches. false: a loss was not finite,
  /// which `update` has; nothing else of it counts.
  bool run_passes(const LocalData& data, const LocalRules& rules, const Correction& correction,
                  BatchPlan plan, LocalContext& context, ClientUpdate& update);
  /// Adds the gradient of the batches' summed cross-entropy / `total` to gradient_.
  void add_validation_gradient(std::span<const std::size_t> batches, double total);
  /// How many of them, from the first on, go through the network together.
  std::size_t batches_at_once(std::span<const std::size_t> batches);

  Resident new_resident() const { return make_resident(build_model_(), layout_, options_); }
  /// Forward in the precision of training and scoring; what comes out has the parameters'.
  Output pass(Resident& network, const at::Tensor& images, Mode mode) const;
  Tensors buffers_at_start(const RoundStart& start, BufferRule rule,
                           const ClientState& state) const;

  std::function<std::unique_ptr<Model>()> build_model_;
  at::TensorOptions options_;
  bool bf16_;
  const Layout& layout_;
  const Validation& validation_;
  std::unique_ptr<LocalOptimizer> optimizer_;
  std::vector<std::int64_t> buffer_blocks_;
  Resident own_;
  std::vector<Resident> replicas_;
  const SampleStore* training_ = nullptr;    ///< of the client at work
  std::optional<at::Tensor> class_weights_;  ///< of its loss
  const std::atomic<bool>* stop_ = nullptr;  ///< of the round at work
  Tensors fresh_buffers_;                    ///< of a model that has seen no batch
  at::Tensor gradient_;                      ///< [P]
  at::Tensor group_sum_;                     ///< [P], of the groups of a scoring pass
  BatchBuffer batch_buffer_;
  std::vector<std::int64_t> joined_;     ///< samples of scoring batches that go together
  std::int64_t image_numbers_ = 0;       ///< of one image of D_val; 0: not yet known
  bool gradient_is_validation_ = false;  ///< gradient_ holds D_val's at the current model
  std::optional<double> accuracy_;
};

}  // namespace fedvg
