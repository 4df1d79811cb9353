#include <gtest/gtest.h>

#include "engine/combiners/testing.h"

namespace fedvg {
namespace {

using namespace testing;
using Numbers = std::vector<double>;

// U04: 33 samples that return 0 and 64 that return 97: 97 * 64 / 97.
TEST(Mean, WeighsByTheScores) {
  Combination round(combiner("mean"));
  round.add({0}, 33);
  round.add({97}, 64);
  EXPECT_NEAR(round.step().value()[0], 64.0, 1e-13);
  EXPECT_DOUBLE_EQ(round.weight(0), 33.0 / 97);
  EXPECT_DOUBLE_EQ(round.weight(1), 64.0 / 97);
}

// U11: the mean is no robust rule: (1e6 + 8.96) / 10.
TEST(Mean, FollowsALiar) {
  EXPECT_NEAR(combined(combiner("mean"), one_liar_of_ten()), 1e5 + 0.896, 1e-9);
}

// U14: running mean 0 with weight 1 and 10 with weight 3: 7.5 in either order.
TEST(Mean, AveragesStatisticsWhoeverComesFirst) {
  for (const bool swapped : {false, true}) {
    Combination round(combiner("mean"));
    round.add({0}, swapped ? 3 : 1, statistic(swapped ? 10 : 0));
    round.add({0}, swapped ? 1 : 3, statistic(swapped ? 0 : 10));
    round.step();
    EXPECT_EQ(round.buffers()[0].item<double>(), 7.5);
    EXPECT_EQ(round.buffers()[0].scalar_type(), at::kFloat);
  }
}

// U12, U13: counters 10 and 21 with weights 1 and 2: 17.33, as an int64 without dimensions.
TEST(Mean, RoundsCountersAndKeepsTheirTypeAndShape) {
  Combination round(combiner("mean"));
  round.add({0}, 1, counter(10));
  round.add({0}, 2, counter(21));
  round.step();
  EXPECT_EQ(round.buffers()[0].scalar_type(), at::kLong);
  EXPECT_EQ(round.buffers()[0].dim(), 0);
  EXPECT_EQ(round.buffers()[0].item<std::int64_t>(), 17);
}

// A factor multiplies the update but neither the weights nor the buffers.
TEST(Mean, LeavesBuffersWithoutTheFactor) {
  Combination round(combiner("mean"));
  round.add({4}, 1, statistic(2), /*factor=*/0.5);
  round.add({4}, 1, statistic(6), /*factor=*/0.25);
  EXPECT_EQ(round.step().value(), Numbers{1.5});
  EXPECT_EQ(round.buffers()[0].item<double>(), 4);
  EXPECT_EQ(round.weight(1), 0.5);
}

// U01: nothing to divide by.
TEST(Mean, OfNothingIsNothing) {
  EXPECT_FALSE(Combination(combiner("mean")).step().has_value());
  Combination round(combiner("mean"));
  round.add({1}, 0);
  round.add({3}, 0);
  EXPECT_FALSE(round.step().has_value());
}

TEST(Mean, StartsEachRoundAnew) {
  Combination round(combiner("mean"));
  round.add({100});
  round.step();
  const Layout layout({{.name = "w", .block = "w", .shape = {1}, .strides = {1}}});
  round.combiner().begin(layout, 1);
  EXPECT_FALSE(round.combiner().combine({1.0}).has_value());
}

TEST(Mean, HoldsNoMoreModelsForMoreParticipants) {
  const auto mean = combiner("mean");
  EXPECT_TRUE(mean->takes_weights());
  EXPECT_EQ(mean->models_held(3, 1), mean->models_held(3000, 1));
}

}  // namespace
}  // namespace fedvg
