#pragma once

#include <cstdint>

#include "fedvg/partition.h"

namespace fedvg {

/// `partitioner.draw(request)` with partition.balanced: the first `balanced` clients each get
/// floor(n_c / clients) of the n_c available samples of every class c, drawn from
/// Random(seed, "partition-balanced"); the scheme divides the rest among the others. 0: the
/// scheme divides everything.
///
/// Throws OptionError also when balanced clients cannot be: the scheme draws none, they would be
/// all clients, or such a share is below min_samples or nothing.
Partition draw_partition(const Partitioner& partitioner, const PartitionRequest& request,
                         std::int64_t balanced);

}  // namespace fedvg
