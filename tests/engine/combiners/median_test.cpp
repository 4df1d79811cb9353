#include <gtest/gtest.h>

#include "engine/combiners/testing.h"

namespace fedvg {
namespace {

using namespace testing;
using Numbers = std::vector<double>;

TEST(Median, TakesTheMiddleNumber) {
  EXPECT_EQ(combined(combiner("median"), {1e6, 1, 2}), 2);
  EXPECT_EQ(combined(combiner("median"), {7}), 7);
}

TEST(Median, TakesTheMeanOfTheTwoMiddleOnes) {
  EXPECT_EQ(combined(combiner("median"), {3, 1e6, 1, 2}), 2.5);
  EXPECT_EQ(combined(combiner("median"), {4, 2}), 3);
}

TEST(Median, IsTakenNumberByNumber) {
  Combination round(combiner("median"), 3);
  round.add({1, 30, -1});
  round.add({2, 10, -3});
  round.add({3, 20, -2});
  EXPECT_EQ(round.step().value(), (Numbers{2, 20, -2}));
}

// Numbers are worked on a slice at a time; updates longer than one.
TEST(Median, OfLongUpdates) {
  constexpr std::int64_t kSize = 150'000;
  Combination round(combiner("median"), kSize);
  for (int k = 0; k < 3; ++k) {
    Numbers delta(kSize);
    for (std::size_t i = 0; i < delta.size(); ++i) {
      delta[i] = static_cast<double>(i) + static_cast<double>((k + static_cast<int>(i)) % 3);
    }
    round.add(delta);
  }
  const auto step = round.step().value();
  for (std::size_t i = 0; i < step.size(); i += 997) EXPECT_EQ(step[i], static_cast<double>(i) + 1);
  EXPECT_EQ(step.back(), static_cast<double>(kSize));
}

// U11: nine honest updates from 0.96 to 1.03; the two middle ones of ten are 1.0 and 1.0.
TEST(Median, StaysWithTheHonest) {
  EXPECT_EQ(combined(combiner("median"), one_liar_of_ten()), 1.0);
}

// Two clients of 10 and 21 batches: 15.5, rounded to even; three of 10, 21, 12: 12.
TEST(Median, KeepsCountersWhole) {
  Combination two(combiner("median"));
  two.add({0}, 1, counter(10));
  two.add({0}, 1, counter(21));
  two.step();
  EXPECT_EQ(two.buffers()[0].scalar_type(), at::kLong);
  EXPECT_EQ(two.buffers()[0].dim(), 0);
  EXPECT_EQ(two.buffers()[0].item<std::int64_t>(), 16);

  Combination three(combiner("median"));
  for (const std::int64_t count : {10, 21, 12}) three.add({0}, 1, counter(count));
  three.step();
  EXPECT_EQ(three.buffers()[0].item<std::int64_t>(), 12);
}

TEST(Median, CountsEverybodyAlike) {
  Combination round(combiner("median"));
  for (const double u : {1.0, 100.0, 3.0}) round.add({u}, u);
  EXPECT_EQ(round.step().value()[0], 3);
  EXPECT_DOUBLE_EQ(round.weight(1), 1.0 / 3);
  EXPECT_FALSE(round.combiner().takes_weights());
  EXPECT_EQ(round.combiner().models_held(50, 1), 50);
}

TEST(Median, OfNothingIsNothing) {
  EXPECT_FALSE(Combination(combiner("median")).step().has_value());
}

}  // namespace
}  // namespace fedvg
