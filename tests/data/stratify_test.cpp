#include "data/stratify.h"

#include <algorithm>
#include <set>
#include <vector>

#include <gtest/gtest.h>

namespace fedvg {
namespace {

using Sizes = std::vector<std::int64_t>;

// 5 of 5 : 3 : 2 is 2.5, 1.5, 1: the half left over goes to the first.
TEST(Stratify, RoundsByLargestRemainder) {
  EXPECT_EQ(largest_remainders(Sizes{5, 3, 2}, 5), (Sizes{3, 1, 1}));
  // 7 of 1 : 5 : 4 is 0.7, 3.5, 2.8.
  EXPECT_EQ(largest_remainders(Sizes{1, 5, 4}, 7), (Sizes{1, 3, 3}));
}

TEST(Stratify, SharesAddUpAndNeverExceedASize) {
  Random random(1, "test");
  for (int i = 0; i < 1000; ++i) {
    Sizes sizes(1 + random.below(8));
    std::int64_t all = 0;
    for (auto& size : sizes) all += size = static_cast<std::int64_t>(random.below(20));
    const auto total = static_cast<std::int64_t>(random.below(static_cast<std::uint64_t>(all) + 1));
    std::int64_t sum = 0;
    const Sizes shares = largest_remainders(sizes, total);
    for (std::size_t k = 0; k < sizes.size(); ++k) {
      sum += shares[k];
      ASSERT_LE(shares[k], sizes[k]);
    }
    ASSERT_EQ(sum, total);
  }
}

TEST(Stratify, OfNothingIsNothing) { EXPECT_EQ(largest_remainders(Sizes{0, 0}, 0), (Sizes{0, 0})); }

TEST(Stratify, SortsByClassInTheOrderOfThePool) {
  const Sizes labels = {1, 0, 1, 2, 1};
  EXPECT_EQ(by_class({4, 3, 0, 1}, labels, 4), (std::vector<IndexList>{{1}, {4, 0}, {3}, {}}));
}

TEST(Stratify, DrawsFromEachClassInTheOrderOfThePool) {
  const Sizes labels = {0, 1, 0, 1, 0, 1, 0, 1};
  const IndexList pool = {7, 6, 5, 4, 3, 2};  // three of each class
  std::set<IndexList> seen;
  for (std::uint64_t seed = 0; seed < 100; ++seed) {
    Random random(seed, "test");
    const IndexList subset = stratified_subset(pool, labels, 2, 2, random);
    ASSERT_EQ(subset.size(), 2u);
    EXPECT_NE(labels[static_cast<std::size_t>(subset[0])],
              labels[static_cast<std::size_t>(subset[1])]);
    EXPECT_GT(subset[0], subset[1]);  // the pool descends
    seen.insert(subset);
  }
  EXPECT_EQ(seen.size(), 9u);  // each of 3 x 3 pairs
}

TEST(Stratify, AllOfAPoolIsThePool) {
  const Sizes labels = {0, 1, 0};
  Random random(1, "test");
  EXPECT_EQ(stratified_subset({2, 0, 1}, labels, 2, 3, random), (IndexList{2, 0, 1}));
}

}  // namespace
}  // namespace fedvg
