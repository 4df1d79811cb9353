#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "fedvg/partition.h"

namespace fedvg {

/// How many of the listed samples each class has, [classes]. `labels` are of the whole set,
/// each in [0, classes).
std::vector<std::int64_t> class_counts(const IndexList& list, std::span<const std::int64_t> labels,
                                       std::size_t classes);

/// "0", "1", … up to the largest label: names of classes that have none.
std::vector<std::string> numbered_classes(std::span<const std::int64_t> labels);

}  // namespace fedvg
