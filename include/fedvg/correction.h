#pragma once

#include <cstdint>
#include <vector>

#include "fedvg/layout.h"
#include "fedvg/model.h"
#include "fedvg/random.h"
#include "fedvg/update.h"

namespace fedvg {

/// What a correction sees of one client's local training.
///
/// Vectors are flat, [P], in model order (fedvg/layout.h). They alias the worker's
/// model: writing to `gradient` changes the next step.
struct LocalContext {
  std::int64_t round = 0;      ///< from 1
  std::int64_t client = 0;     ///< index in [0, population)
  std::int64_t steps = 0;      ///< local steps taken so far
  double learning_rate = 0;    ///< of the current step
  at::Tensor parameters;       ///< w_local
  at::Tensor gradient;         ///< of the loss at w_local
  at::Tensor global;           ///< w, the round's global model, read only
  const Layout* layout = nullptr;
  Model* model = nullptr;      ///< holds `parameters`
  Random* random = nullptr;    ///< the client's stream for this round
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

  // The client's half.
  /// Before the first step.
  virtual void begin(LocalContext&) const {}
  /// May add to the task's loss, a scalar with graph.
  virtual at::Tensor loss(LocalContext&, const Batch&, const Output&, at::Tensor base) const {
    return base;
  }
  /// After backward, before clipping and the step: may change `context.gradient`.
  virtual void grad(LocalContext&) const {}
  /// After the last step; the update's delta is set.
  virtual void end(LocalContext&, ClientUpdate&) const {}

  // The server's half, on one thread.
  /// Sent to every participant beside the model; counted in bytes_down.
  virtual TensorMap broadcast() const { return {}; }
  /// [1] or [T], multiplies delta but not u: FedNova's 1/a_k.
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

  virtual TensorMap state() const { return {}; }
  virtual void restore(const TensorMap&) {}
};

}  // namespace fedvg
