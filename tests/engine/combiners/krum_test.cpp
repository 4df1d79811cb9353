#include <gtest/gtest.h>

#include <algorithm>

#include "engine/combiners/testing.h"

namespace fedvg {
namespace {

using namespace testing;

// K = 5, f = 1: the two nearest others count. Of 0, 1, 2.1, 10 and -100 the sums of squares
// are 1 + 4.41, 1 + 1.21, 1.21 + 4.41, 62.41 + 81 and 10000 + 10201: the second.
TEST(Krum, TakesTheUpdateNearestToItsNeighbours) {
  Combination round(combiner("krum"));
  for (const double delta : {0.0, 1.0, 2.1, 10.0, -100.0}) {
    round.add({delta}, 1, statistic(delta + 5));
  }
  EXPECT_EQ(round.step().value()[0], 1);
  EXPECT_EQ(round.buffers()[0].item<double>(), 6);
  for (std::size_t k = 0; k < 5; ++k) EXPECT_EQ(round.weight(k), k == 1 ? 1 : 0);
}

// Distances are between whole updates: (0,0), (1,0), (0,1) lie together, (9,9) and (-9,9) not.
// f = 1: sums 1 + 1, 1 + 2, 1 + 2 for the first three.
TEST(Krum, MeasuresWholeUpdates) {
  Combination round(combiner("krum"), 2);
  round.add({9, 9});
  round.add({1, 0});
  round.add({-9, 9});
  round.add({0, 0});
  round.add({0, 1});
  EXPECT_EQ(round.step().value(), (std::vector<double>{0, 0}));
}

// All equal: the first in the order of the sums.
TEST(Krum, SettlesTiesByOrder) {
  Combination round(combiner("krum"));
  for (int k = 0; k < 5; ++k) round.add({4}, 1, counter(k));
  EXPECT_EQ(round.step().value()[0], 4);
  EXPECT_EQ(round.buffers()[0].item<std::int64_t>(), 0);
}

// U11: within the honest range.
TEST(Krum, StaysWithTheHonest) {
  const double step = combined(combiner("krum", {{"malicious", 3}}), one_liar_of_ten());
  EXPECT_GE(step, 0.96);
  EXPECT_LE(step, 1.03);
}

// Two liars who agree with each other, f = 2, K = 7.
TEST(Krum, StaysWithTheHonestAgainstTwoWhoAgree) {
  const double step =
      combined(combiner("krum", {{"malicious", 2}}), {50, 1.0, 50, 1.2, 0.9, 1.1, 0.8});
  EXPECT_GE(step, 0.8);
  EXPECT_LE(step, 1.2);
}

// U11: 3 malicious of 4 is impossible; K must be 2 f + 3.
TEST(Krum, RefusesTooFewParticipants) {
  EXPECT_THROW(combiner("krum", {{"malicious", 3}})->check(4), OptionError);
  EXPECT_THROW(combiner("krum", {{"malicious", 3}})->check(8), OptionError);
  EXPECT_NO_THROW(combiner("krum", {{"malicious", 3}})->check(9));
  EXPECT_THROW(combiner("krum")->check(4), OptionError);
  EXPECT_NO_THROW(combiner("krum")->check(5));
  EXPECT_THROW(combiner("krum", {{"malicious", 0}})->check(2), OptionError);
  EXPECT_THROW(combiner("krum", {{"malicious", -1}}), OptionError);
}

// Updates that were rejected may leave too few: no step rather than one without guarantee.
TEST(Krum, OfTooFewUpdatesIsNothing) {
  Combination round(combiner("krum"));
  for (int k = 0; k < 4; ++k) round.add({1});
  EXPECT_FALSE(round.step().has_value());
}

}  // namespace
}  // namespace fedvg
