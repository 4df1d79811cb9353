#include "data/stratify.h"

#include <algorithm>
#include <functional>
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

TEST(Stratify, OrdersAPoolSoThatEveryPrefixHasItsClassShares) {
  Sizes labels;
  for (int i = 0; i < 300; ++i) labels.push_back(i % 10 == 0 ? 2 : i % 3 == 0 ? 1 : 0);
  IndexList pool;
  for (std::int64_t i = 299; i >= 10; --i) pool.push_back(i);
  const auto sizes = by_class(pool, labels, 3);
  std::set<IndexList> seen;
  for (std::uint64_t seed = 0; seed < 5; ++seed) {
    Random random(seed, "test");
    const IndexList order = stratified_order(pool, labels, 3, random);
    std::vector<double> counts(3, 0);
    for (std::size_t p = 0; p < order.size(); ++p) {
      ++counts[static_cast<std::size_t>(labels[static_cast<std::size_t>(order[p])])];
      for (std::size_t c = 0; c < 3; ++c) {
        const double share =
            static_cast<double>(sizes[c].size()) / static_cast<double>(pool.size());
        ASSERT_NEAR(counts[c], share * static_cast<double>(p + 1), 1 + 3 * share) << p;
      }
    }
    IndexList sorted = order;
    std::sort(sorted.begin(), sorted.end(), std::greater<>());
    EXPECT_EQ(sorted, pool);  // nothing lost, nothing twice
    seen.insert(order);
  }
  EXPECT_EQ(seen.size(), 5u);
}

}  // namespace
}  // namespace fedvg
