#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "run/comparison/comparison_table.h"
#include "run/comparison/made_up_comparison.h"

namespace fedvg {
namespace {

using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

TEST(ComparisonCaption, SaysMetricRoundAndSeeds) {
  EXPECT_THAT(comparison_caption(two_by_two()),
              ElementsAre("test_accuracy of the last round: mean ± standard deviation (n - 1) over "
                          "2 seeds"));
  Comparison comparison = two_by_two();
  comparison.criterion = "val_accuracy";
  for (auto& column : comparison.columns) column.at = parse_at("best");
  comparison.rows[0].cells[0] = seed_results(1, 0.5);
  EXPECT_THAT(
      comparison_caption(comparison),
      ElementsAre("test_accuracy of the round that is best by val_accuracy: mean ± standard "
                  "deviation (n - 1) over seeds, their number in brackets"));
  for (auto& column : comparison.columns) column.at = parse_at("last:5");
  EXPECT_THAT(comparison_caption(comparison)[0],
              HasSubstr("test_accuracy, mean of the last 5 rounds: "));
}

TEST(ComparisonCaption, SaysTheTestAndWhatItsPairsAllow) {
  const auto lines = comparison_caption(tested(two_by_two()));
  ASSERT_EQ(lines.size(), 3U);
  EXPECT_THAT(lines[1],
              AllOf(HasSubstr("Wilcoxon signed-rank test against fedavg, two-sided, exact"),
                    HasSubstr("pairs (same partition.alpha and seed) that differ"),
                    HasSubstr("Holm over 1 comparison;"), HasSubstr("rank-biserial")));
  EXPECT_EQ(lines[2],
            "n = 5 allows no p below 0.0625; more seeds, or settings pooled by --columns, allow "
            "smaller ones");
}

// 2^-24 for each of two, so 2^-23 after Holm.
TEST(ComparisonCaption, EnoughPairsNeedNoAdvice) {
  Comparison comparison = tested(three_methods());
  comparison.rows[1].test->test.used = 25;
  comparison.rows[2].test = comparison.rows[1].test;
  const auto lines = comparison_caption(comparison);
  EXPECT_THAT(lines[1], AllOf(HasSubstr("test of final test_accuracy against"),
                              HasSubstr("Holm over 2 comparisons;")));
  EXPECT_EQ(lines[2], "n = 25 allows no p below 5.96e-08 (Holm: 1.19e-07)");
}

TEST(ComparisonCaption, SaysWhenPIsAnApproximation) {
  Comparison comparison = tested(two_by_two());
  comparison.rows[1].test->test.used = 60;
  comparison.rows[1].test->test.exact = false;
  const auto lines = comparison_caption(comparison);
  ASSERT_EQ(lines.size(), 2U);
  EXPECT_THAT(lines[1], HasSubstr("two-sided, normal approximation;"));
}

TEST(ComparisonCaption, SaysWhenThereIsNoPairAtAll) {
  Comparison comparison = tested(two_by_two());
  comparison.rows[1].test.emplace();
  EXPECT_EQ(comparison_caption(comparison)[1], "no test: no row has a pair with fedavg");
}

TEST(ComparisonCaption, SaysWhatBecomesOfRunsThatNeverGotThere) {
  Comparison comparison = tested(two_by_two("rounds-to:0.8"));
  comparison.rows[0].cells[0] = never_results(2, 1, 50);
  const auto lines = comparison_caption(comparison);
  EXPECT_THAT(lines[0], HasSubstr("first round in which test_accuracy reaches 0.8"));
  EXPECT_THAT(lines[1], HasSubstr("runs that never got there"));
  EXPECT_THAT(lines[3], HasSubstr("comes after every one that did"));
}

}  // namespace
}  // namespace fedvg
