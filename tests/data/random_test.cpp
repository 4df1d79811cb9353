#include "fedvg/random.h"

#include <array>
#include <cmath>
#include <cstdint>
#include <numeric>
#include <set>
#include <vector>

#include <gtest/gtest.h>

namespace fedvg {
namespace {

struct Moments {
  double mean, variance;
};

template <class Draw>
Moments moments(int count, Draw draw) {
  std::vector<double> values(static_cast<std::size_t>(count));
  for (double& value : values) value = draw();
  const double mean = std::accumulate(values.begin(), values.end(), 0.0) / count;
  double squares = 0;
  for (const double value : values) squares += (value - mean) * (value - mean);
  return {mean, squares / (count - 1)};
}

TEST(Random, AStreamRepeatsByItsName) {
  Random first(7, "batches", 3, 41), second(7, "batches", 3, 41);
  for (int i = 0; i < 1000; ++i) ASSERT_EQ(first.bits(), second.bits());
}

TEST(Random, EveryPartOfTheNameMakesAnotherStream) {
  std::set<std::uint64_t> first;
  std::size_t streams = 0;
  for (const std::uint64_t seed : {0u, 1u, 2u}) {
    for (const char* purpose : {"", "batches", "batch", "cohort"}) {
      for (std::int64_t round = 0; round < 20; ++round) {
        for (std::int64_t client = -1; client < 20; ++client) {
          first.insert(Random(seed, purpose, round, client).bits());
          ++streams;
        }
      }
    }
  }
  EXPECT_EQ(first.size(), streams);
}

// First numbers of neighbouring streams: mean 1/2, variance 1/12, no correlation. Of
// 20,000 numbers the mean's deviation is 0.002, the correlation's 0.007.
TEST(Random, NeighbouringStreamsAreIndependent) {
  constexpr int streams = 20'000;
  std::vector<double> values;
  for (int round = 0; round <= streams; ++round) {
    values.push_back(Random(1, "cohort", round).uniform() - 0.5);
  }
  double sum = 0, squares = 0, products = 0;
  for (int i = 0; i < streams; ++i) {
    const double value = values[static_cast<std::size_t>(i)];
    sum += value;
    squares += value * value;
    products += value * values[static_cast<std::size_t>(i) + 1];
  }
  EXPECT_NEAR(sum / streams, 0, 0.01);
  EXPECT_NEAR(squares / streams, 1.0 / 12, 0.003);
  EXPECT_NEAR(products / squares, 0, 0.035);
}

TEST(Random, UniformIsBelowOne) {
  Random random(1, "test");
  const auto [mean, variance] = moments(100'000, [&] {
    const double value = random.uniform();
    EXPECT_TRUE(value >= 0 && value < 1);
    return value;
  });
  EXPECT_NEAR(mean, 0.5, 0.005);
  EXPECT_NEAR(variance, 1.0 / 12, 0.001);
}

TEST(Random, BelowHitsEveryNumberEquallyOften) {
  Random random(1, "test");
  std::array<int, 7> hits{};
  for (int i = 0; i < 70'000; ++i) ++hits[random.below(7)];
  for (const int hit : hits) EXPECT_NEAR(hit, 10'000, 500);  // deviation 93
}

TEST(Random, BelowOfOneIsZero) {
  Random random(1, "test");
  for (int i = 0; i < 100; ++i) EXPECT_EQ(random.below(1), 0u);
}

// n = 3 * 2^62: taking the remainder of 64 bits would hit the lower third twice as often
// as each other third; without bias each third gets a third.
TEST(Random, BelowOfAHugeNumberHasNoBias) {
  Random random(1, "test");
  constexpr std::uint64_t third = std::uint64_t{1} << 62;
  std::array<int, 3> hits{};
  for (int i = 0; i < 30'000; ++i) ++hits[random.below(3 * third) / third];
  for (const int hit : hits) EXPECT_NEAR(hit, 10'000, 500);  // deviation 82
}

TEST(Random, NormalHasMeanZeroAndVarianceOne) {
  Random random(1, "test");
  const auto [mean, variance] = moments(200'000, [&] { return random.normal(); });
  EXPECT_NEAR(mean, 0, 0.012);
  EXPECT_NEAR(variance, 1, 0.016);
}

TEST(Random, ShuffleKeepsEveryItem) {
  Random random(1, "test");
  std::vector<int> items(100);
  std::iota(items.begin(), items.end(), 0);
  random.shuffle(std::span(items));
  EXPECT_NE(items[0] * 100 + items[1], 1);
  EXPECT_EQ(std::set<int>(items.begin(), items.end()).size(), 100u);
}

// Each of the 6 orders of 3 items 10,000 times in 60,000 (deviation 91).
TEST(Random, ShuffleMakesEveryOrderEquallyOften) {
  Random random(1, "test");
  std::array<int, 333> hits{};
  for (int i = 0; i < 60'000; ++i) {
    std::array<int, 3> items = {0, 1, 2};
    random.shuffle(std::span<int>(items));
    ++hits[static_cast<std::size_t>(items[0] * 100 + items[1] * 10 + items[2])];
  }
  for (const std::size_t order : {12u, 21u, 102u, 120u, 201u, 210u}) {
    EXPECT_NEAR(hits[order], 10'000, 500);
  }
}

// The logarithm of a Gamma(a) variate has mean digamma(a) and variance trigamma(a).
// digamma(1) = -0.577216 (Euler), trigamma(1) = pi^2 / 6; the others by
// digamma(a) = digamma(a + 1) - 1 / a, trigamma(a) = trigamma(a + 1) + 1 / a^2 and the
// series at 1 (a = 0.05: -20 - 0.497845, 400 + 1.532359; a = 0.1: -10 - 0.423755,
// 100 + 1.433299) and at infinity (a = 100: ln 100 - 1/200 - 1/120000, 1/100 + 1/20000 + 1/6e6).
TEST(Random, LogGammaVariateHasTheRightMoments) {
  struct Case {
    double shape, mean, variance;
  };
  for (const auto& [shape, mean, variance] :
       {Case{0.05, -20.497845, 401.532359}, Case{0.1, -10.423755, 101.433299},
        Case{1, -0.577216, 1.644934}, Case{100, 4.600162, 0.0100502}}) {
    constexpr int count = 200'000;
    Random random(1, "test");
    const auto found = moments(count, [&, shape = shape] {
      const double value = random.log_gamma_variate(shape);
      EXPECT_TRUE(std::isfinite(value));
      return value;
    });
    EXPECT_NEAR(found.mean, mean, 5 * std::sqrt(variance / count)) << "shape " << shape;
    EXPECT_NEAR(found.variance / variance, 1, 0.04) << "shape " << shape;
  }
}

TEST(Random, LogGammaVariateIsFiniteForEveryShape) {
  for (const double shape : {5e-324, 1e-300, 1e-10, 1e-3, 1e9, 1e300}) {
    Random random(1, "test");
    for (int i = 0; i < 1000; ++i) ASSERT_TRUE(std::isfinite(random.log_gamma_variate(shape)));
  }
}

}  // namespace
}  // namespace fedvg
