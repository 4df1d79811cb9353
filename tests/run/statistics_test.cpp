#include "run/statistics.h"

#include <gtest/gtest.h>

#include <cmath>
#include <vector>

namespace fedvg {
namespace {

// Mean of 2, 4, 9 is 5; squares of -3, -1, 4 sum to 26; 26 / (3 - 1) = 13.
TEST(Statistics, DeviationIsThatOfTheSample) {
  const auto spread = spread_of(std::vector<double>{2, 4, 9});
  EXPECT_DOUBLE_EQ(spread.mean, 5);
  EXPECT_DOUBLE_EQ(*spread.deviation, std::sqrt(13.0));
}

TEST(Statistics, OneNumberHasNoDeviation) {
  const auto spread = spread_of(std::vector<double>{0.61});
  EXPECT_EQ(spread.mean, 0.61);
  EXPECT_FALSE(spread.deviation.has_value());
}

TEST(Statistics, MedianOfAnEvenNumberIsTheMeanOfTheMiddleTwo) {
  EXPECT_EQ(median_of(std::vector<double>{9, 1, 4}), 4);
  EXPECT_EQ(median_of(std::vector<double>{9, 1, 4, 2}), 3);
  EXPECT_EQ(median_of(std::vector<double>{7}), 7);
}

}  // namespace
}  // namespace fedvg
