#include "run/checkpoints/best_round.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>

namespace fedvg {
namespace {

constexpr double kNan = std::numeric_limits<double>::quiet_NaN();
constexpr double kInfinity = std::numeric_limits<double>::infinity();

RoundResult evaluated(std::int64_t round, const Evaluation& validation) {
  RoundResult result;
  result.record.round = round;
  result.validation = validation;
  result.test = Evaluation{.accuracy = 1 - validation.accuracy, .loss = 1 - validation.loss};
  return result;
}

RoundResult of_accuracy(std::int64_t round, double accuracy) {
  return evaluated(round, {.accuracy = accuracy, .loss = -accuracy});
}

TEST(BestRound, IsTheFirstOfEqualsByTheFigureOfDval) {
  BestRound best("val_accuracy");
  EXPECT_FALSE(best.is_known());
  EXPECT_EQ(best.round(), 0);
  EXPECT_TRUE(best.add(of_accuracy(1, 0.0)));
  EXPECT_TRUE(best.add(of_accuracy(2, 0.5)));
  EXPECT_FALSE(best.add(of_accuracy(3, 0.5)));
  EXPECT_FALSE(best.add(of_accuracy(4, 0.25)));
  EXPECT_TRUE(best.is_known());
  EXPECT_EQ(best.round(), 2);
  EXPECT_EQ(best.value(), 0.5);
  EXPECT_EQ(best.not_bettered(), 2);
  EXPECT_TRUE(best.add(of_accuracy(5, 0.75)));
  EXPECT_EQ(best.not_bettered(), 0);
}

TEST(BestRound, GoesByTheMetricThatWasChosen) {
  const Evaluation low{
      .accuracy = 0.1, .loss = 0.1, .balanced_accuracy = 0.2, .macro_f1 = 0.3, .macro_auroc = 0.4};
  struct Better {
    const char* metric;
    Evaluation evaluation;
    double value;
  };
  const auto with = [&](auto member, double value) {
    Evaluation changed = low;
    changed.*member = value;
    return changed;
  };
  const std::vector<Better> all = {
      {"val_accuracy", with(&Evaluation::accuracy, 0.9), 0.9},
      {"val_loss", with(&Evaluation::loss, 0.05), 0.05},
      {"val_balanced_accuracy", with(&Evaluation::balanced_accuracy, 0.9), 0.9},
      {"val_macro_f1", with(&Evaluation::macro_f1, 0.9), 0.9},
      {"val_macro_auroc", with(&Evaluation::macro_auroc, 0.9), 0.9}};
  for (const auto& [metric, unused, value] : all) {
    for (const auto& [changed, evaluation, better] : all) {
      BestRound best(metric);
      EXPECT_EQ(best.metric(), metric);
      best.add(evaluated(1, low));
      const bool is_it = std::string(metric) == changed;
      EXPECT_EQ(best.add(evaluated(2, evaluation)), is_it) << metric << " " << changed;
      if (is_it) {
        EXPECT_EQ(best.value(), value);
      }
    }
  }
}

TEST(BestRound, ALargerLossIsNotBetter) {
  BestRound best("val_loss");
  best.add(evaluated(1, {.loss = 1}));
  EXPECT_FALSE(best.add(evaluated(2, {.loss = 2})));
  EXPECT_FALSE(best.add(evaluated(3, {.loss = 1})));
  EXPECT_TRUE(best.add(evaluated(4, {.loss = 0.5})));
}

TEST(BestRound, IsNeverOneWithoutAFiniteFigure) {
  BestRound loss("val_loss"), auroc("val_macro_auroc");
  for (const double value : {kNan, kInfinity, -kInfinity}) {
    EXPECT_FALSE(loss.add(evaluated(1, {.loss = value})));
  }
  EXPECT_FALSE(auroc.add(evaluated(1, {.accuracy = 1})));  // absent
  EXPECT_FALSE(loss.is_known());
  EXPECT_FALSE(auroc.is_known());
  EXPECT_EQ(loss.not_bettered(), 3);
  EXPECT_EQ(auroc.not_bettered(), 1);
  EXPECT_TRUE(loss.add(evaluated(4, {.loss = 1e308})));
  EXPECT_FALSE(loss.add(evaluated(5, {.loss = kNan})));
  EXPECT_FALSE(loss.add(evaluated(6, {.loss = -kInfinity})));
  EXPECT_EQ(loss.round(), 4);
}

TEST(BestRound, ARoundThatWasNotEvaluatedChangesNothing) {
  BestRound best("val_accuracy");
  best.add(of_accuracy(1, 0.5));
  RoundResult without = of_accuracy(2, 0);
  without.validation.reset();
  EXPECT_FALSE(best.add(without));
  EXPECT_EQ(best.not_bettered(), 0);
  EXPECT_EQ(best.round(), 1);
}

TEST(BestRound, PatienceCountsEvaluationsInARow) {
  BestRound best("val_accuracy");
  best.add(of_accuracy(1, 0.5));
  EXPECT_FALSE(best.has_run_out(1));
  best.add(of_accuracy(2, 0.4));
  EXPECT_TRUE(best.has_run_out(1));
  EXPECT_FALSE(best.has_run_out(2));
  EXPECT_FALSE(best.has_run_out(0)) << "0: never";
  best.add(of_accuracy(3, 0.6));
  EXPECT_FALSE(best.has_run_out(1));
  best.add(of_accuracy(4, 0.6));
  best.add(of_accuracy(6, 0.6));
  EXPECT_TRUE(best.has_run_out(2));
}

// A run that never has a figure runs out, too.
TEST(BestRound, PatienceCountsFromTheStartWithoutABest) {
  BestRound best("val_loss");
  best.add(evaluated(1, {.loss = kNan}));
  best.add(evaluated(2, {.loss = kNan}));
  EXPECT_TRUE(best.has_run_out(2));
  EXPECT_FALSE(best.has_run_out(3));
}

TEST(BestRound, GoesOnFromItsState) {
  for (int known = 0; known < 2; ++known) {
    BestRound one("val_loss"), other("val_loss");
    if (known == 1) one.add(evaluated(3, {.loss = 0.5}));
    one.add(evaluated(4, {.loss = kNan}));
    other.add(evaluated(1, {.loss = 0.001}));
    other.restore(one.state());
    EXPECT_EQ(other.is_known(), known == 1);
    EXPECT_EQ(other.round(), one.round());
    EXPECT_EQ(other.not_bettered(), 1);
    EXPECT_EQ(other.add(evaluated(5, {.loss = 0.75})), one.add(evaluated(5, {.loss = 0.75})));
    EXPECT_EQ(other.not_bettered(), one.not_bettered());
    EXPECT_EQ(other.value(), one.value());
  }
}

}  // namespace
}  // namespace fedvg
