// Weights by the samples that a client trained on: n_k / sum_j n_j (FedAvg, McMahan et
// al., 2017, arXiv 1602.05629).

#include "fedvg/method.h"
#include "fedvg/registry.h"
#include "fedvg/weighting.h"

namespace fedvg {
namespace {

class Size final : public WeightingRule {
 public:
  explicit Size(const NoOptions&) {}
  Folding folding() const override { return Folding::always; }
  Assessment assess(const Round&, const ClientUpdate& update, Evaluator&) const override {
    return one_score(static_cast<double>(update.samples));
  }
};

FEDVG_REGISTER(WeightingRule, "size", Size, NoOptions, "by the samples a client trained on");
FEDVG_METHOD((Method{.name = "fedavg"}), "local SGD, models averaged by the clients' sizes");

}  // namespace
}  // namespace fedvg
