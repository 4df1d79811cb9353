// FedProx (Li et al., 2020, arXiv 1812.06127)
//
//   gradient += mu (w_local - w)
//
// the gradient of (mu / 2) ||w_local - w||^2, added after backward so that the loss that
// is reported stays the task's own.

#include "fedvg/correction.h"
#include "fedvg/method.h"
#include "fedvg/registry.h"

namespace fedvg {
namespace {

struct FedProxOptions {
  double mu = 0.01;

  template <class Visitor>
  static void describe(Visitor& visit) {
    visit("mu", &FedProxOptions::mu, at_least(0), "pull to the round's global model");
  }
};

class FedProx final : public Correction {
 public:
  explicit FedProx(const FedProxOptions& options) : options_(options) {}

  Folding folding() const override { return Folding::always; }

  void grad(LocalContext& context) const override {
    if (options_.mu == 0) return;  // FedAvg to the last bit
    context.gradient.add_(context.parameters, options_.mu).sub_(context.global, options_.mu);
  }

 private:
  FedProxOptions options_;
};

FEDVG_REGISTER(Correction, "fedprox", FedProx, FedProxOptions,
               "gradient += mu (w_local - w): local models stay near the global one");
FEDVG_METHOD((Method{.name = "fedprox", .correction = {"fedprox", {}}}),
             "FedAvg with a pull to the global model in local training");

}  // namespace
}  // namespace fedvg
