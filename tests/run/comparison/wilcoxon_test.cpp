#include "run/comparison/wilcoxon.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <random>

namespace fedvg {
namespace {

using ::testing::DoubleNear;
using ::testing::ElementsAre;

using Numbers = std::vector<double>;

constexpr double kInfinity = std::numeric_limits<double>::infinity();

SignedRank test_of(const Numbers& differences) {
  return signed_rank_test(differences, Numbers(differences.size(), 0.0));
}

// The ranks 1 to n, positive where 7 i mod 10 is less than 6.
Numbers alternating(int n) {
  Numbers differences;
  for (int i = 1; i <= n; ++i) differences.push_back((i * 7) % 10 < 6 ? i : -i);
  return differences;
}

// Whole numbers with many ties and some zeros.
Numbers tied(int n) {
  Numbers differences;
  for (int i = 1; i <= n; ++i) differences.push_back((i * 37) % 23 - 9);
  return differences;
}

// scipy 1.17.1: scipy.stats.wilcoxon(differences, method="exact").pvalue
TEST(Wilcoxon, WithoutTiesAndZerosItIsTheExactPOfScipy) {
  EXPECT_NEAR(test_of({0.031, 0.012, 0.044, 0.027, 0.005}).p, 0.0625, 1e-12);
  EXPECT_NEAR(test_of({1, -2, 3, 4, 5, -6, 7, 8}).p, 0.1953125, 1e-12);
  EXPECT_NEAR(test_of({-0.5, 1.25, 2.75, -3.5, 4.5, 5.5, 6.25, -7.5, 8.5, 9.75, 10.5, 11.25}).p,
              0.04248046875, 1e-12);
  EXPECT_NEAR(test_of(alternating(25)).p, 0.325391948223114, 1e-12);
  EXPECT_NEAR(test_of(alternating(50)).p, 0.18768390417341507, 1e-12);
  EXPECT_TRUE(test_of(alternating(50)).exact);
}

// scipy 1.17.1: scipy.stats.wilcoxon(differences, zero_method="wilcox", correction=False,
// method="asymptotic").pvalue
TEST(Wilcoxon, AboveFiftyPairsItIsTheAsymptoticPOfScipy) {
  const auto sixty = test_of(tied(60));
  EXPECT_FALSE(sixty.exact);
  EXPECT_EQ(sixty.pairs, 60U);
  EXPECT_EQ(sixty.used, 58U);
  EXPECT_EQ(std::min(sixty.plus, sixty.minus), 565.5);
  EXPECT_NEAR(sixty.p, 0.024627165142471676, 1e-12);
  EXPECT_NEAR(test_of(tied(325)).p, 3.47544494314558e-07, 1e-18);
  EXPECT_NEAR(test_of(alternating(60)).p, 0.1511410846186405, 1e-12);
}

// What is left after the zeros decides.
TEST(Wilcoxon, FiftyOnePairsOfWhichTwoAreEqualAreTestedExactly) {
  const auto test = test_of(tied(51));
  EXPECT_EQ(test.used, 49U);
  EXPECT_TRUE(test.exact);
}

// Every assignment of signs, with the midranks of a straightforward sort.
double enumerated_p(const Numbers& differences) {
  Numbers sizes;
  double positive = 0;
  for (const double d : differences) {
    if (d != 0) sizes.push_back(std::abs(d));
  }
  const auto rank_of = [&](double size) {
    double rank = 0.5;
    for (const double other : sizes) rank += other < size ? 1.0 : other == size ? 0.5 : 0.0;
    return rank;
  };
  double total = 0;
  for (const double d : differences) {
    if (d == 0) continue;
    total += rank_of(std::abs(d));
    if (d > 0) positive += rank_of(d);
  }
  const double distance = std::abs(positive - total / 2);
  std::size_t extreme = 0;
  const std::size_t all = std::size_t{1} << sizes.size();
  for (std::size_t signs = 0; signs < all; ++signs) {
    double sum = 0;
    for (std::size_t i = 0; i < sizes.size(); ++i) {
      if (signs >> i & 1) sum += rank_of(sizes[i]);
    }
    if (std::abs(sum - total / 2) >= distance - 1e-9) ++extreme;
  }
  return static_cast<double>(extreme) / static_cast<double>(all);
}

TEST(Wilcoxon, WithTiesAndZerosItIsTheShareOfAllAssignmentsOfSigns) {
  std::mt19937 random(3);
  std::uniform_int_distribution<int> number(-4, 6);
  int with_ties = 0;
  for (int n = 1; n <= 12; ++n) {
    for (int repeat = 0; repeat < 8; ++repeat) {
      Numbers differences;
      for (int i = 0; i < n; ++i) differences.push_back(number(random));
      EXPECT_NEAR(test_of(differences).p, enumerated_p(differences), 1e-12)
          << ::testing::PrintToString(differences);
      std::sort(differences.begin(), differences.end());
      if (std::adjacent_find(differences.begin(), differences.end()) != differences.end()) {
        ++with_ties;
      }
    }
  }
  EXPECT_GT(with_ties, 50);
}

// Sizes 1, 2, 2, 4: ranks 1, 2.5, 2.5, 4. Plus 1 + 2.5 + 4 = 7.5, minus 2.5, effect 5 / 10.
TEST(Wilcoxon, TiesGetMidranksAndZerosAreDropped) {
  const auto test = test_of({0, 1, -2, 2, 0, 4});
  EXPECT_EQ(test.pairs, 6U);
  EXPECT_EQ(test.used, 4U);
  EXPECT_EQ(test.plus, 7.5);
  EXPECT_EQ(test.minus, 2.5);
  EXPECT_EQ(*test.effect, 0.5);
}

TEST(Wilcoxon, TheFirstBeingLargerIsAPositiveEffect) {
  EXPECT_EQ(*signed_rank_test(Numbers{2, 3}, Numbers{1, 1}).effect, 1.0);
  EXPECT_EQ(*signed_rank_test(Numbers{1, 1}, Numbers{2, 3}).effect, -1.0);
}

// In binary 0.3 - 0.2, 0.2 - 0.1 and 0.8 - 0.7 are three numbers.
TEST(Wilcoxon, RoundingMakesNoRanksAndNoDifferences) {
  ASSERT_NE(0.3 - 0.2, 0.2 - 0.1);
  const auto test =
      signed_rank_test(Numbers{0.3, 0.1, 0.8, 0.1 + 0.2}, Numbers{0.2, 0.2, 0.7, 0.3});
  EXPECT_EQ(test.used, 3U);
  EXPECT_EQ(test.plus, 4.0);
  EXPECT_EQ(test.minus, 2.0);
}

// Against infinity every number is equally far: sizes 1, inf, inf have ranks 1, 2.5, 2.5.
TEST(Wilcoxon, InfinityIsBeyondEveryNumberAndEqualToItself) {
  const auto test =
      signed_rank_test(Numbers{kInfinity, 3, kInfinity, kInfinity}, Numbers{7, 2, kInfinity, 50});
  EXPECT_EQ(test.used, 3U);
  EXPECT_EQ(test.plus, 6.0);
  EXPECT_EQ(test.p, 0.25);
  EXPECT_EQ(*signed_rank_test(Numbers{1, 2}, Numbers{kInfinity, 1}).effect, -1.0 / 3.0);
}

TEST(Wilcoxon, NothingThatDiffersHasNoEffectAndPOne) {
  for (const auto& test : {test_of({}), test_of({0, 0, 0})}) {
    EXPECT_EQ(test.p, 1.0);
    EXPECT_EQ(test.used, 0U);
    EXPECT_FALSE(test.effect.has_value());
  }
}

// All differences of one sign, whatever their ties, are the extreme.
TEST(Wilcoxon, TheLeastPIsReachedAndNotPassed) {
  EXPECT_EQ(least_p(5), 0.0625);
  EXPECT_EQ(least_p(1), 1.0);
  EXPECT_EQ(least_p(0), 1.0);
  for (const std::size_t n : {1U, 2U, 5U, 20U, 50U}) {
    EXPECT_EQ(test_of(Numbers(n, 1.0)).p, least_p(n));
  }
}

// By hand, sorted 0.01 * 4, 0.03 * 3, 0.03 * 2, 0.5 * 1, each not below the one before.
TEST(Holm, StepsDownAndNeverFalls) {
  EXPECT_THAT(
      holm_adjusted(Numbers{0.03, 0.5, 0.01, 0.03}),
      ElementsAre(DoubleNear(0.09, 1e-15), 0.5, DoubleNear(0.04, 1e-15), DoubleNear(0.09, 1e-15)));
  EXPECT_THAT(holm_adjusted(Numbers{0.6, 0.7}), ElementsAre(1.0, 1.0));
  EXPECT_THAT(holm_adjusted(Numbers{0.2}), ElementsAre(0.2));
  EXPECT_TRUE(holm_adjusted(Numbers{}).empty());
}

}  // namespace
}  // namespace fedvg
