#include "data/proportions.h"

#include <gtest/gtest.h>

#include <algorithm>

namespace fedvg {
namespace {

using Cuts = std::vector<std::int64_t>;

// All proportions are 1/4: parts end at 2.5, 5, 7.5 and 10, halves rounded away from 0 (unless
// the draw is a trifle off).
TEST(Proportions, OfAHugeAlphaAreEven) {
  Random random(1, "test");
  EXPECT_EQ(dirichlet_cuts(1e9, 4, 1000, random), (Cuts{250, 500, 750, 1000}));
}

TEST(Proportions, AscendAndEndAtTheTotalForEveryAlpha) {
  Random random(1, "test");
  for (const double alpha : {1e-300, 1e-9, 0.05, 1.0, 1e9}) {
    for (const std::int64_t total : {0, 1, 7, 100'000}) {
      const Cuts cuts = dirichlet_cuts(alpha, 5, total, random);
      ASSERT_EQ(cuts.size(), 5u);
      EXPECT_GE(cuts.front(), 0);
      EXPECT_TRUE(std::is_sorted(cuts.begin(), cuts.end())) << alpha;
      EXPECT_EQ(cuts.back(), total) << alpha;
    }
  }
}

// So small an alpha gives everything to one part, and not always to the same.
TEST(Proportions, OfATinyAlphaAreOneAndZeros) {
  Random random(1, "test");
  std::vector<int> wins(3);
  for (int i = 0; i < 60; ++i) {
    const Cuts cuts = dirichlet_cuts(1e-6, 3, 10, random);
    for (const std::int64_t cut : cuts) EXPECT_TRUE(cut == 0 || cut == 10) << cut;
    ++wins[static_cast<std::size_t>(std::count(cuts.begin(), cuts.end(), 0))];
  }
  for (const int count : wins) EXPECT_GT(count, 5);  // 20 each, deviation 3.7
}

}  // namespace
}  // namespace fedvg
