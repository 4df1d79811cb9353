// SGD as PyTorch's torch.optim.SGD has it (a tensor that the loss does not depend on has a gradient
// of 0 here, not none, and decays):
//
//   g += weight_decay w
//   v <- momentum v + g          v = g at the first step
//   w -= lr (g + momentum v)     nesterov; else w -= lr v

#include "fedvg/local_optimizer.h"
#include "fedvg/registry.h"

namespace fedvg {
namespace {

struct LocalSgdOptions {
  double lr = 0.01;
  double momentum = 0;
  bool nesterov = false;
  double weight_decay = 0;

  template <class Visitor>
  static void describe(Visitor& visit) {
    visit("lr", &LocalSgdOptions::lr, at_least(0), "learning rate");
    visit("momentum", &LocalSgdOptions::momentum, from_below(0, 1), "share of the last velocity");
    visit("nesterov", &LocalSgdOptions::nesterov, "look ahead along the velocity");
    visit("weight_decay", &LocalSgdOptions::weight_decay, at_least(0),
          "times w, added to the gradient");
  }
};

class LocalSgd final : public LocalOptimizer {
 public:
  explicit LocalSgd(const LocalSgdOptions& options) : options_(options) {
    if (options.nesterov && options.momentum == 0) {
      throw OptionError("optimizer sgd: nesterov needs a momentum above 0");
    }
  }

  double learning_rate() const override { return options_.lr; }

  // Under a gradient of 1 the i-th step is (1 - rho^i) / (1 - rho) long, one power more
  // with Nesterov.
  std::optional<double> path_length(std::int64_t steps) const override {
    const double rho = options_.momentum;
    if (rho == 0) return static_cast<double>(steps);
    double power = options_.nesterov ? rho : 1, sum = 0;
    for (std::int64_t i = 0; i < steps; ++i) {
      power *= rho;
      sum += (1 - power) / (1 - rho);
    }
    return sum;
  }

  bool is_elementwise() const override { return options_.momentum == 0; }
  bool decays() const override { return options_.weight_decay > 0; }
  Folding folding(bool) const override { return Folding::always; }

  void reset() override { velocity_.reset(); }

  void step(at::Tensor& parameters, at::Tensor& gradient, double learning_rate) override {
    if (options_.weight_decay > 0) gradient.add_(parameters, options_.weight_decay);
    if (options_.momentum == 0) {
      parameters.add_(gradient, -learning_rate);
      return;
    }
    if (velocity_.defined()) {
      velocity_.mul_(options_.momentum).add_(gradient);
    } else {
      velocity_ = gradient.clone();
    }
    if (options_.nesterov) {
      gradient.add_(velocity_, options_.momentum);
      parameters.add_(gradient, -learning_rate);
    } else {
      parameters.add_(velocity_, -learning_rate);
    }
  }

  TensorMap state() const override {
    return velocity_.defined() ? TensorMap{{"velocity", velocity_.clone()}} : TensorMap{};
  }
  void restore(const TensorMap& state) override {
    const auto found = state.find("velocity");
    velocity_ = found == state.end() ? at::Tensor() : found->second.clone();
  }
  std::int64_t vectors_kept() const override { return options_.momentum == 0 ? 0 : 1; }

 private:
  LocalSgdOptions options_;
  at::Tensor velocity_;
};

FEDVG_REGISTER(LocalOptimizer, "sgd", LocalSgd, LocalSgdOptions,
               "stochastic gradient descent, with momentum and weight decay");

}  // namespace
}  // namespace fedvg
