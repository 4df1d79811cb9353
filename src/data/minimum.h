#pragma once

#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <vector>

#include "fedvg/partition.h"

namespace fedvg {

/// Draws until every client has request.min_samples, at most 20 times; then repairs the
/// last draw or refuses it. `draw` gives one list a client, disjoint, each class of a list
/// in random order. The lists come back ascending, with a note when samples were moved.
/// Throws OptionError: at once when clients * min_samples exceeds what is available,
/// naming the numbers; on refusal naming `scheme` ("dirichlet, alpha = 0.1"), clients,
/// minimum and the smallest client.
Partition draw_with_minimum(const PartitionRequest& request, const std::string& scheme,
                            const std::function<std::vector<IndexList>()>& draw);

/// The refusal of what cannot exist alone: clients * min_samples above what is available.
void refuse_impossible(const PartitionRequest& request);

struct Repair {
  std::int64_t moved = 0;      ///< samples
  std::int64_t receivers = 0;  ///< clients that were short
};

/// Moves samples until every list has `minimum`. The short clients are served in order. As
/// long as one is short, the largest client (ties: the first) gives of the class that it
/// has most of (ties: the smallest), from the end of its list: what is missing, or all of
/// that class, or half of what the giver has above the minimum (rounded up), whichever is
/// least. The lists must have minimum * lists.size() samples between them.
Repair repair(std::vector<IndexList>& clients, std::span<const std::int64_t> labels,
              std::int64_t classes, std::int64_t minimum);

}  // namespace fedvg
