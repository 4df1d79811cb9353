#include "data/stratify.h"

#include <algorithm>
#include <cstddef>
#include <numeric>
#include <utility>

namespace fedvg {

std::vector<std::int64_t> largest_remainders(std::span<const std::int64_t> sizes,
                                             std::int64_t total) {
  const std::int64_t all = std::accumulate(sizes.begin(), sizes.end(), std::int64_t{0});
  std::vector<std::int64_t> shares(sizes.size(), 0);
  if (all == 0) return shares;
  std::int64_t left = total;
  for (std::size_t i = 0; i < sizes.size(); ++i) {
    shares[i] = total * sizes[i] / all;
    left -= shares[i];
  }
  std::vector<std::size_t> order(sizes.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::stable_sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) {
    return total * sizes[a] % all > total * sizes[b] % all;
  });
  for (std::int64_t i = 0; i < left; ++i) ++shares[order[static_cast<std::size_t>(i)]];
  return shares;
}

std::vector<IndexList> by_class(const IndexList& pool, std::span<const std::int64_t> labels,
                                std::int64_t classes) {
  std::vector<IndexList> lists(static_cast<std::size_t>(classes));
  for (const std::int64_t index : pool) {
    lists[static_cast<std::size_t>(labels[static_cast<std::size_t>(index)])].push_back(index);
  }
  return lists;
}

IndexList stratified_subset(const IndexList& pool, std::span<const std::int64_t> labels,
                            std::int64_t classes, std::int64_t total, Random& random) {
  IndexList positions(pool.size());
  std::iota(positions.begin(), positions.end(), std::int64_t{0});
  std::vector<std::int64_t> pool_labels;
  pool_labels.reserve(pool.size());
  for (const std::int64_t index : pool) {
    pool_labels.push_back(labels[static_cast<std::size_t>(index)]);
  }
  auto lists = by_class(positions, pool_labels, classes);
  std::vector<std::int64_t> sizes;
  for (const auto& list : lists) sizes.push_back(static_cast<std::int64_t>(list.size()));
  const auto shares = largest_remainders(sizes, total);

  IndexList chosen;
  chosen.reserve(static_cast<std::size_t>(total));
  for (std::size_t label = 0; label < lists.size(); ++label) {
    random.shuffle(std::span(lists[label]));
    chosen.insert(chosen.end(), lists[label].begin(), lists[label].begin() + shares[label]);
  }
  std::sort(chosen.begin(), chosen.end());
  for (std::int64_t& position : chosen) position = pool[static_cast<std::size_t>(position)];
  return chosen;
}

IndexList stratified_order(const IndexList& pool, std::span<const std::int64_t> labels,
                           std::int64_t classes, Random& random) {
  // The r-th of n samples of a class lies at a random place of [r/n, (r+1)/n).
  std::vector<std::pair<double, std::int64_t>> places;
  places.reserve(pool.size());
  for (IndexList& list : by_class(pool, labels, classes)) {
    random.shuffle(std::span(list));
    const auto count = static_cast<double>(list.size());
    for (std::size_t r = 0; r < list.size(); ++r) {
      places.emplace_back((static_cast<double>(r) + random.uniform()) / count, list[r]);
    }
  }
  std::sort(places.begin(), places.end());
  IndexList order;
  order.reserve(pool.size());
  for (const auto& [place, index] : places) order.push_back(index);
  return order;
}

}  // namespace fedvg
