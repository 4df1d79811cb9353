#include <gtest/gtest.h>

#include "engine/combiners/testing.h"

namespace fedvg {
namespace {

using namespace testing;

// floor(0.25 * 4) = 1 left out at either end: (2 + 4) / 2.
TEST(TrimmedMean, LeavesOutTheEnds) {
  EXPECT_EQ(combined(combiner("trimmed-mean", {{"trim", 0.25}}), {1e6, 1, 4, 2}), 3);
}

// floor(0.3 * 10) = 3, although 0.3 * 10 in binary is a little less: (4 + 5 + 6 + 7) / 4.
TEST(TrimmedMean, CountsWhatIsLeftOutExactly) {
  EXPECT_EQ(combined(combiner("trimmed-mean", {{"trim", 0.3}}), {1, 2, 3, 4, 5, 6, 7, 8, 9, 10}),
            5.5);
}

// U11: of ten, 0.96 and 1e6 go; the mean of 0.97, 0.98, 0.99, 1, 1, 1.01, 1.02, 1.03 is 1.
TEST(TrimmedMean, StaysWithTheHonest) {
  EXPECT_NEAR(combined(combiner("trimmed-mean"), one_liar_of_ten()), 1.0, 1e-15);
}

TEST(TrimmedMean, WithoutTrimIsTheMean) {
  EXPECT_EQ(combined(combiner("trimmed-mean", {{"trim", 0.0}}), {1, 2, 6}), 3);
}

TEST(TrimmedMean, TreatsBuffersLikewise) {
  Combination round(combiner("trimmed-mean", {{"trim", 0.25}}));
  for (const std::int64_t count : {10, 1000, 13, 14}) round.add({0}, 1, counter(count));
  round.step();
  EXPECT_EQ(round.buffers()[0].scalar_type(), at::kLong);
  EXPECT_EQ(round.buffers()[0].item<std::int64_t>(), 14);  // 13.5, to even
}

// A trim that trims nobody gives no guarantee.
TEST(TrimmedMean, RefusesRoundsInWhichNobodyIsLeftOut) {
  const auto tenth = combiner("trimmed-mean");
  EXPECT_THROW(tenth->check(9), OptionError);
  EXPECT_NO_THROW(tenth->check(10));
  EXPECT_NO_THROW(combiner("trimmed-mean", {{"trim", 0.0}})->check(1));
}

TEST(TrimmedMean, RefusesToLeaveOutEverybody) {
  EXPECT_THROW(combiner("trimmed-mean", {{"trim", 0.5}}), OptionError);
  EXPECT_THROW(combiner("trimmed-mean", {{"trim", -0.1}}), OptionError);
}

}  // namespace
}  // namespace fedvg
