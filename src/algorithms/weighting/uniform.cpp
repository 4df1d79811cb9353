// Every participant counts the same: 1 / K.

#include "fedvg/registry.h"
#include "fedvg/weighting.h"

namespace fedvg {
namespace {

class Uniform final : public WeightingRule {
 public:
  explicit Uniform(const NoOptions&) {}
  Folding folding() const override { return Folding::always; }
  Assessment assess(const Round&, const ClientUpdate&, Evaluator&) const override {
    return one_score(1.0);
  }
};

FEDVG_REGISTER(WeightingRule, "uniform", Uniform, NoOptions, "the same for every participant");

}  // namespace
}  // namespace fedvg
