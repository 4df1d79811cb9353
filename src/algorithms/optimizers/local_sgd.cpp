// Local SGD: w -= lr * gradient.

#include "fedvg/local_optimizer.h"
#include "fedvg/registry.h"

namespace fedvg {
namespace {

struct LocalSgdOptions {
  double lr = 0.01;

  template <class Visitor>
  static void describe(Visitor& visit) {
    visit("lr", &LocalSgdOptions::lr, at_least(0), "learning rate");
  }
};

class LocalSgd final : public LocalOptimizer {
 public:
  explicit LocalSgd(const LocalSgdOptions& options) : options_(options) {}

  double learning_rate() const override { return options_.lr; }

  void step(at::Tensor& parameters, const at::Tensor& gradient, double learning_rate) override {
    parameters.add_(gradient, -learning_rate);
  }

 private:
  LocalSgdOptions options_;
};

FEDVG_REGISTER(LocalOptimizer, "sgd", LocalSgd, LocalSgdOptions, "w -= lr * gradient");

}  // namespace
}  // namespace fedvg
