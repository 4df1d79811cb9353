#pragma once

#include <ATen/core/Tensor.h>

#include <span>
#include <vector>

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
  /// meanwhile and get theirs back at the end. `tails`: further numbers, which no loss depends on
  /// (Layout::tail). All arguments but these must outlive it.
  StepInBackward(std::span<const NamedTensor> parameters, Tensors tails, LocalOptimizer& optimizer,
                 const double& learning_rate);
  ~StepInBackward();
  StepInBackward(const StepInBackward&) = delete;
  StepInBackward& operator=(const StepInBackward&) = delete;

  /// After a backward pass: parameters that it did not reach, and tails, take a step with a
  /// gradient of 0, which weight decay moves, as they do in one over the flat vectors.
  void finish();

 private:
  std::span<const NamedTensor> parameters_;
  Tensors tails_;
  LocalOptimizer& optimizer_;
  const double& learning_rate_;
  Tensors gradients_;
  std::vector<char> reached_;  ///< by the backward pass, for each parameter
};

}  // namespace fedvg
