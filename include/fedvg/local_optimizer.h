#pragma once

#include <ATen/core/Tensor.h>

namespace fedvg {

/// One client's local steps. One object belongs to one worker.
class LocalOptimizer {
 public:
  static constexpr const char* kind = "local-optimizer";
  virtual ~LocalOptimizer() = default;

  virtual double learning_rate() const = 0;
  /// Forgets what it gathered: called before each client.
  virtual void reset() {}
  /// In place; vectors [P], gradients after correction and clipping.
  virtual void step(at::Tensor& parameters, const at::Tensor& gradient, double learning_rate) = 0;
};

}  // namespace fedvg
