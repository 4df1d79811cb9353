#include "precision/rank_correlation.h"

#include <gtest/gtest.h>

namespace fedvg {
namespace {

using Numbers = std::vector<double>;

TEST(Ranks, ShareThePlacesOfEqualNumbers) {
  EXPECT_EQ(ranks_of({30, 10, 20}), (Numbers{3, 1, 2}));
  EXPECT_EQ(ranks_of({5, 7, 5, 7, 5}), (Numbers{2, 4.5, 2, 4.5, 2}));
  EXPECT_EQ(ranks_of({}), Numbers{});
}

// 1 - 6 sum d^2 / (n (n^2 - 1)): d = 0, 1, 1, 0 gives 1 - 12 / 60.
TEST(RankCorrelation, ByHand) {
  EXPECT_NEAR(rank_correlation({1, 2, 3, 4}, {0.1, 9, 5, 100}), 0.8, 1e-15);
  EXPECT_NEAR(rank_correlation({1, 2, 3}, {1, 8, 27}), 1, 1e-15);
  EXPECT_NEAR(rank_correlation({1, 2, 3}, {3, 2, 1}), -1, 1e-15);
  // Ranks 1.5, 1.5, 3 and 1, 2, 3: 1.5 / sqrt(1.5 * 2).
  EXPECT_NEAR(rank_correlation({4, 4, 6}, {1, 2, 3}), 0.75 / std::sqrt(0.75), 1e-15);
}

}  // namespace
}  // namespace fedvg
