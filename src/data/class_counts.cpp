#include "data/class_counts.h"

#include <algorithm>
#include <cstddef>

namespace fedvg {

std::vector<std::int64_t> class_counts(const IndexList& list, std::span<const std::int64_t> labels,
                                       std::size_t classes) {
  std::vector<std::int64_t> counts(classes, 0);
  for (const std::int64_t index : list) {
    ++counts[static_cast<std::size_t>(labels[static_cast<std::size_t>(index)])];
  }
  return counts;
}

std::vector<std::string> numbered_classes(std::span<const std::int64_t> labels) {
  std::int64_t classes = 0;
  for (const std::int64_t label : labels) classes = std::max(classes, label + 1);
  std::vector<std::string> names;
  for (std::int64_t i = 0; i < classes; ++i) names.push_back(std::to_string(i));
  return names;
}

}  // namespace fedvg
