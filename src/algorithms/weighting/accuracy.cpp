// Weights by the accuracy of a client's model on D_val, in evaluation mode; uniform in a
// round in which every accuracy is 0.

#include "fedvg/registry.h"
#include "fedvg/weighting.h"

namespace fedvg {
namespace {

class Accuracy final : public WeightingRule {
 public:
  explicit Accuracy(const NoOptions&) {}

  bool needs_validation() const override { return true; }
  Folding folding() const override { return Folding::always; }
  std::size_t parts() const override { return 2; }  // the accuracies, and what replaces them

  Assessment assess(const Round&, const ClientUpdate&, Evaluator& evaluator) const override {
    Assessment assessment = one_score(evaluator.accuracy());
    assessment.score = assessment.parts[0].tensors[0];
    assessment.parts.push_back({{1.0}, {1.0}});
    return assessment;
  }

  std::vector<double> shares(std::span<const std::vector<Score>> scores) const override {
    double sum = 0;
    for (const auto& client : scores) sum += client[0].tensors[0];
    return sum > 0 ? std::vector{1.0, 0.0} : std::vector{0.0, 1.0};
  }
};

FEDVG_REGISTER(WeightingRule, "accuracy", Accuracy, NoOptions, "by the accuracy on D_val");

}  // namespace
}  // namespace fedvg
