// Adam (Kingma and Ba, 2015, arXiv 1412.6980) and AdamW (Loshchilov and Hutter, 2019, arXiv
// 1711.05101) as PyTorch has them:
//
//   g += weight_decay w                               adam
//   w *= 1 - lr weight_decay                          adamw, before the step
//   m <- beta1 m + (1 - beta1) g,  v <- beta2 v + (1 - beta2) g^2
//   w -= lr (m / (1 - beta1^t)) / (sqrt(v / (1 - beta2^t)) + eps)

#include <ATen/ops/full.h>
#include <ATen/ops/zeros_like.h>

#include <cmath>

#include "fedvg/local_optimizer.h"
#include "fedvg/registry.h"

namespace fedvg {
namespace {

/// `decoupled`: AdamW.
template <bool decoupled>
struct AdamOptions {
  double lr = 1e-3;
  double beta1 = 0.9;
  double beta2 = 0.999;
  double eps = 1e-8;
  double weight_decay = decoupled ? 0.01 : 0;

  template <class Visitor>
  static void describe(Visitor& visit) {
    visit("lr", &AdamOptions::lr, at_least(0), "learning rate");
    visit("beta1", &AdamOptions::beta1, from_below(0, 1), "decay of the mean gradient");
    visit("beta2", &AdamOptions::beta2, from_below(0, 1), "decay of the mean square");
    visit("eps", &AdamOptions::eps, above(0), "added to the root of the mean square");
    visit("weight_decay", &AdamOptions::weight_decay, at_least(0), "pull of w to 0");
  }
};

template <bool decoupled>
class LocalAdam final : public LocalOptimizer {
 public:
  explicit LocalAdam(const AdamOptions<decoupled>& options) : options_(options) {}

  double learning_rate() const override { return options_.lr; }
  std::optional<double> path_length(std::int64_t) const override { return std::nullopt; }

  bool decays() const override { return options_.weight_decay > 0; }
  // The quotient is not linear in gradients; AdamW's decay does not go through them.
  Folding folding(bool corrected) const override {
    return decoupled && !corrected ? Folding::always : Folding::at_rest;
  }

  void reset() override {
    m_.reset();
    v_.reset();
    steps_ = 0;
  }

  void step(at::Tensor& parameters, at::Tensor& gradient, double learning_rate) override {
    if (decoupled) {
      parameters.mul_(1 - learning_rate * options_.weight_decay);
    } else if (options_.weight_decay > 0) {
      gradient.add_(parameters, options_.weight_decay);
    }
    if (!m_.defined()) {
      m_ = at::zeros_like(parameters);
      v_ = at::zeros_like(parameters);
    }
    ++steps_;
    m_.mul_(options_.beta1).add_(gradient, 1 - options_.beta1);
    v_.mul_(options_.beta2).addcmul_(gradient, gradient, 1 - options_.beta2);
    const double first = 1 - std::pow(options_.beta1, static_cast<double>(steps_));
    const double second = 1 - std::pow(options_.beta2, static_cast<double>(steps_));
    const at::Tensor root = v_.sqrt().div_(std::sqrt(second)).add_(options_.eps);
    parameters.addcdiv_(m_, root, -learning_rate / first);
  }

  TensorMap state() const override {
    if (!m_.defined()) return {};
    return {{"m", m_.clone()}, {"v", v_.clone()}, {"steps", at::full({}, steps_, at::kLong)}};
  }
  void restore(const TensorMap& state) override {
    reset();
    if (state.empty()) return;
    m_ = state.at("m").clone();
    v_ = state.at("v").clone();
    steps_ = state.at("steps").item<std::int64_t>();
  }
  std::int64_t vectors_kept() const override { return 2; }

 private:
  AdamOptions<decoupled> options_;
  at::Tensor m_, v_;
  std::int64_t steps_ = 0;
};

FEDVG_REGISTER(LocalOptimizer, "adam", LocalAdam<false>, AdamOptions<false>,
               "Adam, weight decay as part of the gradient");
FEDVG_REGISTER(LocalOptimizer, "adamw", LocalAdam<true>, AdamOptions<true>,
               "Adam with decoupled weight decay");

}  // namespace
}  // namespace fedvg
