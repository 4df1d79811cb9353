#include "data/partitions/testing.h"

#include <algorithm>
#include <numeric>

namespace fedvg::testing {

std::vector<std::int64_t> labels_by_class(const std::vector<std::int64_t>& sizes) {
  std::vector<std::int64_t> labels;
  for (std::size_t label = 0; label < sizes.size(); ++label) {
    labels.insert(labels.end(), static_cast<std::size_t>(sizes[label]),
                  static_cast<std::int64_t>(label));
  }
  return labels;
}

PartitionRequest request_for(const std::vector<std::int64_t>& labels, std::int64_t clients,
                             std::int64_t min_samples, std::uint64_t seed) {
  PartitionRequest request{.labels = labels, .available = IndexList(labels.size())};
  request.classes = 1 + *std::max_element(labels.begin(), labels.end());
  std::iota(request.available.begin(), request.available.end(), std::int64_t{0});
  request.data = {"test", std::ssize(labels), "0123456789abcdef"};
  request.clients = clients;
  request.min_samples = min_samples;
  request.seed = seed;
  return request;
}

void expect_divided(const Partition& partition, const PartitionRequest& request) {
  ASSERT_EQ(std::ssize(partition.clients), request.clients);
  IndexList all;
  for (const auto& client : partition.clients) {
    EXPECT_TRUE(std::is_sorted(client.begin(), client.end()));
    all.insert(all.end(), client.begin(), client.end());
  }
  std::sort(all.begin(), all.end());
  EXPECT_EQ(all, request.available);
}

std::int64_t smallest_client(const Partition& partition) {
  std::int64_t smallest = std::ssize(partition.clients.front());
  for (const auto& client : partition.clients) smallest = std::min(smallest, std::ssize(client));
  return smallest;
}

std::vector<std::vector<std::int64_t>> class_table(const Partition& partition,
                                                   const PartitionRequest& request) {
  std::vector<std::vector<std::int64_t>> table;
  for (const auto& client : partition.clients) {
    auto& row = table.emplace_back(static_cast<std::size_t>(request.classes), 0);
    for (const std::int64_t index : client) {
      ++row[static_cast<std::size_t>(request.labels[static_cast<std::size_t>(index)])];
    }
  }
  return table;
}

std::int64_t held(const std::vector<std::int64_t>& row) {
  return std::count_if(row.begin(), row.end(), [](std::int64_t count) { return count > 0; });
}

}  // namespace fedvg::testing
