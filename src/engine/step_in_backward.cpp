#include "engine/step_in_backward.h"

#include <ATen/ops/as_strided.h>
#include <ATen/ops/empty_like.h>
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
  Step(LocalOptimizer& optimizer, const double& learning_rate)
      : optimizer_(optimizer), learning_rate_(learning_rate) {}

  void operator()(const torch::autograd::Variable& parameter) override {
    const at::Tensor gradient = parameter.grad();
    parameter.mutable_grad().reset();
    at::Tensor w = flat(parameter);
    at::Tensor g = flat(gradient.strides() == parameter.strides()
                            ? gradient
                            : at::empty_like(parameter.detach()).copy_(gradient));
    optimizer_.step(w, g, learning_rate_);
  }

 private:
  LocalOptimizer& optimizer_;
  const double& learning_rate_;
};

}  // namespace

StepInBackward::StepInBackward(std::span<const NamedTensor> parameters, LocalOptimizer& optimizer,
                               const double& learning_rate)
    : parameters_(parameters) {
  for (const auto& parameter : parameters) {
    gradients_.push_back(parameter.tensor.grad());
    parameter.tensor.mutable_grad().reset();
    torch::autograd::impl::set_post_acc_grad_hooks(
        parameter.tensor, std::make_unique<Step>(optimizer, learning_rate));
  }
}

StepInBackward::~StepInBackward() {
  for (std::size_t i = 0; i < parameters_.size(); ++i) {
    torch::autograd::impl::set_post_acc_grad_hooks(parameters_[i].tensor, nullptr);
    parameters_[i].tensor.mutable_grad() = gradients_[i];
  }
}

}  // namespace fedvg
