#pragma once

#include <ATen/core/Tensor.h>

#include <span>

#include "fedvg/local_optimizer.h"
#include "fedvg/model.h"

namespace fedvg {

/// While it lives, a backward pass steps each parameter as soon as its gradient is complete and
/// drops the gradient, which is then still in the cache and is never added to anything: of a
/// large model's step this saves clearing, adding up and reading again a vector [P]. For
/// optimizers that is_elementwise(), where nothing needs the whole gradient (clipping, a
/// correction of gradients). The numbers are those of one step over the flat vectors.
class StepInBackward {
 public:
  /// `parameters`: dense tensors, each with the strides of its gradient; they keep none
  /// meanwhile and get theirs back at the end. All arguments must outlive it.
  StepInBackward(std::span<const NamedTensor> parameters, LocalOptimizer& optimizer,
                 const double& learning_rate);
  ~StepInBackward();
  StepInBackward(const StepInBackward&) = delete;
  StepInBackward& operator=(const StepInBackward&) = delete;

 private:
  std::span<const NamedTensor> parameters_;
  Tensors gradients_;
};

}  // namespace fedvg
