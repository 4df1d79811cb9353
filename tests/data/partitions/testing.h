#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "fedvg/partition.h"
#include "fedvg/registry.h"

namespace fedvg::testing {

/// `sizes[c]` labels of class c, class by class.
std::vector<std::int64_t> labels_by_class(const std::vector<std::int64_t>& sizes);

/// A request for all samples; `labels` must outlive it.
PartitionRequest request_for(const std::vector<std::int64_t>& labels, std::int64_t clients,
                             std::int64_t min_samples, std::uint64_t seed = 1);

inline Partition draw(const PartitionRequest& request, const std::string& scheme,
                      Table options = {}) {
  return Registry<Partitioner>::instance().make(scheme, std::move(options))->draw(request);
}

/// Every available sample belongs to exactly one client, and each list ascends.
void expect_divided(const Partition& partition, const PartitionRequest& request);

std::int64_t smallest_client(const Partition& partition);

/// Samples by client and class.
std::vector<std::vector<std::int64_t>> class_table(const Partition& partition,
                                                   const PartitionRequest& request);

/// Classes of which a client has samples; `row` is of class_table().
std::int64_t held(const std::vector<std::int64_t>& row);

}  // namespace fedvg::testing
