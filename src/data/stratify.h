#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "fedvg/partition.h"
#include "fedvg/random.h"

namespace fedvg {

/// Shares of `total` in proportion to `sizes`: each rounded down, then one more for the
/// largest remainders, ties to the earlier. 0 <= total <= sum of sizes; no share exceeds
/// its size.
std::vector<std::int64_t> largest_remainders(std::span<const std::int64_t> sizes,
                                             std::int64_t total);

/// Positions in `pool` by class: [classes] lists of the pool's entries, in its order.
std::vector<IndexList> by_class(const IndexList& pool, std::span<const std::int64_t> labels,
                                std::int64_t classes);

/// `total` of the pool's samples with the pool's class shares (largest_remainders), drawn
/// without replacement within each class; in the order in which the pool has them.
/// 0 <= total <= pool.size().
IndexList stratified_subset(const IndexList& pool, std::span<const std::int64_t> labels,
                            std::int64_t classes, std::int64_t total, Random& random);

/// The pool in an order in which any run of neighbours has about the pool's class shares: a class
/// lies evenly over the order, so that what it has in a prefix of p differs from its share of p by
/// at most 1 + share * classes. The order within a class is drawn.
IndexList stratified_order(const IndexList& pool, std::span<const std::int64_t> labels,
                           std::int64_t classes, Random& random);

}  // namespace fedvg
