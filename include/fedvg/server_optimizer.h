#pragma once

#include <ATen/core/Tensor.h>

#include "fedvg/folding.h"
#include "fedvg/layout.h"

namespace fedvg {

/// Takes the combined step: w and d are float64 vectors [P]; d points from the round's
/// global model to the weighted mean of the clients' models. Acts on trainable
/// parameters only; buffers are averaged without it.
class ServerOptimizer {
 public:
  static constexpr const char* kind = "server-optimizer";
  virtual ~ServerOptimizer() = default;

  virtual Folding folding() const { return Folding::never; }
  virtual void step(at::Tensor& w, const at::Tensor& d) = 0;
  /// What the next round needs, by name; empty for a rule without memory. Later steps leave
  /// these tensors alone: a round that fails puts them back.
  virtual TensorMap state() const { return {}; }
  virtual void restore(const TensorMap&) {}
};

}  // namespace fedvg
