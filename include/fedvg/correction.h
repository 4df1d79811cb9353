#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "fedvg/folding.h"
#include "fedvg/layout.h"
#include "fedvg/local_optimizer.h"
#include "fedvg/model.h"
#include "fedvg/random.h"
#include "fedvg/update.h"

namespace fedvg {

/// What a correction may ask of the worker beyond the vectors of LocalContext.
class LocalTools {
 public:
  virtual ~LocalTools() = default;
  /// Gradient of the mean loss over these samples at the worker's parameters, into
  /// LocalContext::gradient; added to what is there when `add`. The mode `eval` leaves
  /// buffers alone.
  virtual void gradient_of(std::span<const std::int64_t> samples, Mode mode, bool add) = 0;
  /// Puts a model into one of the worker's spare networks, made when first asked for.
  virtual void load_replica(std::size_t slot, const at::Tensor& w, const Tensors& buffers) = 0;
  /// Features of a batch by a spare network, in evaluation mode, without graph: [B, F].
  virtual at::Tensor replica_features(std::size_t slot, const at::Tensor& images) = 0;
};

/// What a correction sees of one client's local training.
///
/// Vectors are flat, [P], in model order (fedvg/layout.h). They alias the worker's
/// model: writing to `gradient` changes the next step.
struct LocalContext {
  std::int64_t round = 0;    ///< from 1
  std::int64_t client = 0;   ///< index in [0, population)
  std::int64_t steps = 0;    ///< tau_k: local steps taken so far
  double learning_rate = 0;  ///< of this round
  at::Tensor parameters;     ///< w_local
  at::Tensor gradient;       ///< of the loss at w_local
  at::Tensor global;         ///< w, the round's global model, read only
  const Tensors* global_buffers = nullptr;
  const Layout* layout = nullptr;
  const LocalOptimizer* optimizer = nullptr;
  Random* random = nullptr;          ///< the client's own stream for this round
  const TensorMap* inbox = nullptr;  ///< what broadcast() gave this round
  const TensorMap* state = nullptr;  ///< what the client kept; empty before its first round
  TensorMap next_state;              ///< set in end(): kept once the server accepts the update
  TensorMap scratch;                 ///< between the hooks of one round
  std::vector<std::int64_t>* samples = nullptr;  ///< to train on; begin() may take some away
  std::span<const std::vector<std::int64_t>> fixed_probe;  ///< Elastic's, where given
  std::int64_t batch_size = 32;
  LocalTools* tools = nullptr;
};

/// Changes local training, and what the server does about it.
///
/// Both halves of a method live in one class. The client's half is const: one object
/// serves all workers at once. Every hook may be left out. Order in a round: broadcast;
/// for each client begin, (loss, grad) a step, end; then, in the order of the sums, factor
/// and accept for each accepted update; columns; the server optimizer's step; after_step.
/// A round without an accepted update ends in abandon instead.
class Correction {
 public:
  static constexpr const char* kind = "correction";
  virtual ~Correction() = default;

  /// Throws OptionError when the method is not defined with such local steps. `kept`: the
  /// optimizer goes on where the client's last round ended.
  virtual void check(const LocalOptimizer&, bool /*kept*/) const {}
  /// True: the client's update is weighted in a way that a combiner without weights lacks.
  virtual bool needs_weights() const { return false; }
  /// True: loss() looks at Output::features, which not every network has.
  virtual bool needs_features() const { return false; }
  /// Of both halves.
  virtual Folding folding() const { return Folding::never; }
  /// Model-sized vectors that next_state holds.
  virtual std::int64_t vectors_kept() const { return 0; }

  // The client's half.
  /// Before the first step.
  virtual void begin(LocalContext&) const {}
  /// May add to the task's loss, a scalar with graph.
  virtual at::Tensor loss(LocalContext&, const Batch&, const Output&, at::Tensor base) const {
    return base;
  }
  /// False: grad() does nothing, and nothing but begin() looks at `context.gradient`; the engine
  /// may then step each tensor during the backward pass.
  virtual bool corrects_gradients() const { return true; }
  /// After backward, before clipping and the step: may change `context.gradient`.
  virtual void grad(LocalContext&) const {}
  /// After the last step; the update's delta is set.
  virtual void end(LocalContext&, ClientUpdate&) const {}

  // The server's half, on one thread.
  /// Sent to every participant beside the model; counted in bytes_down.
  virtual TensorMap broadcast() const { return {}; }
  /// [1] or [T], multiplies delta but not u: FedNova's 1 / a_k.
  virtual Column factor(const ClientUpdate&) const { return {1.0}; }
  /// An update was added; gather what after_step needs (pending until then).
  virtual void accept(const ClientUpdate&) {}
  /// [1] or [T], multiplies the combined step: Elastic's zeta. `weights` is W, one Column
  /// of size 1 or T a receipt.
  virtual Column columns(const Round&, const std::vector<Column>& /*weights*/) const {
    return {1.0};
  }
  /// After the server step: take the pending sums, may move w (float64, [P]).
  virtual void after_step(const Round&, at::Tensor& /*w*/) {}
  /// The round is void: drop the pending sums.
  virtual void abandon(const Round&) {}

  /// What the next round needs, by name. Later rounds leave these tensors alone: a round that
  /// fails puts them back.
  virtual TensorMap state() const { return {}; }
  virtual void restore(const TensorMap&) {}
};

}  // namespace fedvg
