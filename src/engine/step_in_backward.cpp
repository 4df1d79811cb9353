#include "engine/step_in_backward.h"

#include <ATen/ops/as_strided.h>
#include <ATen/ops/empty_like.h>
#include <ATen/ops/zeros_like.h>
#include <torch/csrc/autograd/function_hook.h>
#include <torch/csrc/autograd/variable.h>

#include <memory>

namespace fedvg {
namespace {

/// A dense tensor's numbers in the order of memory.
at::Tensor flat(const at::Tensor& x) {
  return x.detach().as_strided({x.numel()}, {1}, x.storage_offset());
}

class Step final : public torch::autograd::PostAccumulateGradHook {
 public:
  Step(LocalOptimizer& optimizer, const double& learning_rate, char& reached)
      : optimizer_(optimizer), learning_rate_(learning_rate), reached_(reached) {}

  void operator()(const torch::autograd::Variable& parameter) override {
    const at::Tensor gradient = parameter.grad();
    parameter.mutable_grad().reset();
    at::Tensor w = flat(parameter);
    at::Tensor g = flat(gradient.strides() == parameter.strides()
                            ? gradient
                            : at::empty_like(parameter.detach()).copy_(gradient));
    optimizer_.step(w, g, learning_rate_);
    reached_ = 1;
  }

 private:
  LocalOptimizer& optimizer_;
  const double& learning_rate_;
  char& reached_;
};

}  // namespace

StepInBackward::StepInBackward(std::span<const NamedTensor> parameters, Tensors tails,
                               LocalOptimizer& optimizer, const double& learning_rate)
    : parameters_(parameters),
      tails_(std::move(tails)),
      optimizer_(optimizer),
      learning_rate_(learning_rate),
      reached_(parameters.size(), 0) {
  for (std::size_t i = 0; i < parameters.size(); ++i) {
    const at::Tensor& parameter = parameters[i].tensor;
    gradients_.push_back(parameter.grad());
    parameter.mutable_grad().reset();
    torch::autograd::impl::set_post_acc_grad_hooks(
        parameter, std::make_unique<Step>(optimizer, learning_rate, reached_[i]));
  }
}

void StepInBackward::finish() {
  const auto step_without_gradient = [&](at::Tensor w) {
    at::Tensor gradient = at::zeros_like(w);
    optimizer_.step(w, gradient, learning_rate_);
  };
  for (std::size_t i = 0; i < parameters_.size(); ++i) {
    if (!reached_[i] && optimizer_.decays()) step_without_gradient(flat(parameters_[i].tensor));
    reached_[i] = 0;
  }
  if (!optimizer_.decays()) return;
  for (const at::Tensor& tail : tails_) step_without_gradient(tail);
}

StepInBackward::~StepInBackward() {
  for (std::size_t i = 0; i < parameters_.size(); ++i) {
    torch::autograd::impl::set_post_acc_grad_hooks(parameters_[i].tensor, nullptr);
    parameters_[i].tensor.mutable_grad() = gradients_[i];
  }
}

}  // namespace fedvg
