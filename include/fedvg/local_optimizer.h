#pragma once

#include <ATen/core/Tensor.h>

#include <cstdint>
#include <optional>

#include "fedvg/folding.h"
#include "fedvg/layout.h"

namespace fedvg {

/// One client's local steps. One object belongs to one worker.
class LocalOptimizer {
 public:
  static constexpr const char* kind = "local-optimizer";
  virtual ~LocalOptimizer() = default;

  virtual double learning_rate() const = 0;
  /// a_tau: how far `steps` steps go under a constant gradient of 1, in units of the
  /// learning rate; tau for plain SGD. Nothing where a step does not scale with the gradient.
  virtual std::optional<double> path_length(std::int64_t steps) const = 0;
  /// Forgets what it gathered: called before each client.
  virtual void reset() {}
  /// True: it gathers nothing, and the step of a number follows from that number, its gradient
  /// and the rate, so that any part of the vectors may be stepped on its own.
  virtual bool is_elementwise() const { return false; }
  /// True: a step moves numbers whose gradient is 0, as weight decay does.
  virtual bool decays() const { return true; }
  /// `corrected`: a correction changes gradients, so that those of numbers that the loss does not
  /// depend on are 0 only as long as these stay where they are.
  virtual Folding folding(bool /*corrected*/) const { return Folding::never; }
  /// In place; vectors [P], the gradient after correction and clipping, which may be used
  /// as scratch. Parts of them, [n], where it is_elementwise().
  virtual void step(at::Tensor& parameters, at::Tensor& gradient, double learning_rate) = 0;

  /// What it gathered, by name, for an optimizer that is kept between rounds.
  virtual TensorMap state() const { return {}; }
  virtual void restore(const TensorMap&) {}
  /// Model-sized vectors that state() holds.
  virtual std::int64_t vectors_kept() const { return 0; }
};

}  // namespace fedvg
