#include "run/checkpoints/best_round.h"

#include <cmath>

namespace fedvg {
namespace {

std::optional<double> figure_of(const std::string& metric, const Evaluation& evaluation) {
  if (metric == "val_loss") return evaluation.loss;
  if (metric == "val_balanced_accuracy") return evaluation.balanced_accuracy;
  if (metric == "val_macro_f1") return evaluation.macro_f1;
  if (metric == "val_macro_auroc") return evaluation.macro_auroc;
  return evaluation.accuracy;
}

}  // namespace

bool BestRound::add(const RoundResult& result, bool due) {
  if (!result.validation) return false;
  const auto figure = figure_of(metric_, *result.validation);
  const bool counts = figure && std::isfinite(*figure) && std::isfinite(result.validation->loss);
  const bool better =
      counts && (!value_ || (metric_ == "val_loss" ? *figure < *value_ : *figure > *value_));
  if (!better) {
    not_bettered_ += due ? 1 : 0;
    return false;
  }
  round_ = result.record.round;
  value_ = figure;
  not_bettered_ = 0;
  return true;
}

void BestRound::restore(const State& state) {
  round_ = state.round;
  value_ = state.value;
  not_bettered_ = state.not_bettered;
}

}  // namespace fedvg
