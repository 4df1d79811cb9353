#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "run/comparison/comparison_table.h"
#include "run/comparison/made_up_comparison.h"

namespace fedvg {
namespace {

TEST(ComparisonCsv, HasEveryFigureAndNoDeviationOfOneSeed) {
  EXPECT_EQ(comparison_csv(three_methods()),
            "method,metric,rounds,seeds,final_mean,final_std,last,last_mean,last_std\n"
            "fedavg,test_accuracy,50,2,0.48,0.02,10,0.47,0.01\n"
            "fedvg,test_accuracy,50,2,0.53,0.03,10,0.5,0.02\n"
            "fedprox,test_accuracy,50,1,0.5,,10,0.51,\n");
}

TEST(ComparisonCsv, CarriesTheTests) {
  EXPECT_EQ(comparison_csv(tested(three_methods())),
            "method,metric,rounds,seeds,final_mean,final_std,last,last_mean,last_std,baseline,"
            "pairs,n,p,p_holm,effect,p_is\n"
            "fedavg,test_accuracy,50,2,0.48,0.02,10,0.47,0.01,fedavg,,,,,,\n"
            "fedvg,test_accuracy,50,2,0.53,0.03,10,0.5,0.02,fedavg,6,5,0.0625,0.125,1,exact\n"
            "fedprox,test_accuracy,50,1,0.5,,10,0.51,,fedavg,0,0,,,,\n");
}

TEST(ComparisonCsv, OfAGridHasALineForEachCell) {
  Comparison comparison = tested(two_by_two());
  comparison.rows[0].cells[1] = {};
  EXPECT_EQ(comparison_csv(comparison),
            "method,partition.alpha,metric,at,seeds,mean,std,never,limit,baseline,pairs,n,p,p_holm,"
            "effect,p_is\n"
            "fedavg,0.1,test_accuracy,final,2,0.48,0.02,0,,fedavg,,,,,,\n"
            "fedavg,1.0,test_accuracy,final,0,,,0,,fedavg,,,,,,\n"
            "fedvg,0.1,test_accuracy,final,2,0.53,0.03,0,,fedavg,6,5,0.0625,0.125,1,exact\n"
            "fedvg,1.0,test_accuracy,final,2,0.5,0.02,0,,fedavg,6,5,0.0625,0.125,1,exact\n");
}

TEST(ComparisonCsv, SaysAtWhichRoundAndHowManyNeverGotThere) {
  Comparison best = two_by_two();
  best.criterion = "val_loss";
  for (auto& column : best.columns) column.at = parse_at("best");
  EXPECT_THAT(comparison_csv(best), ::testing::HasSubstr(",test_accuracy,best:val_loss,2,"));
  Comparison rounds = two_by_two("rounds-to:0.8");
  rounds.rows[0].cells[0] = never_results(5, 2, 50);
  EXPECT_THAT(comparison_csv(rounds),
              ::testing::HasSubstr("fedavg,0.1,rounds-to:0.8,,5,12.5,,2,50\n"));
}

}  // namespace
}  // namespace fedvg
