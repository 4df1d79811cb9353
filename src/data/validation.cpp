#include "data/validation.h"

#include <cmath>
#include <cstddef>
#include <numeric>
#include <vector>

#include "data/stratify.h"
#include "fedvg/error.h"
#include "fedvg/random.h"

namespace fedvg {

IndexList held_out(const ValidationOptions& options, std::span<const std::int64_t> labels,
                   std::int64_t classes, std::uint64_t seed) {
  IndexList all(labels.size());
  std::iota(all.begin(), all.end(), std::int64_t{0});
  const std::int64_t total = std::llround(options.ratio * static_cast<double>(labels.size()));
  Random random(seed, "validation");
  return stratified_subset(all, labels, classes, total, random);
}

IndexList limited(const ValidationOptions& options, const IndexList& pool,
                  std::span<const std::int64_t> labels, std::int64_t classes, std::uint64_t seed) {
  const auto available = static_cast<std::int64_t>(pool.size());
  if (options.size > available) {
    throw OptionError("validation.size = " + std::to_string(options.size) + " is more than the " +
                      std::to_string(available) + " samples of D_val");
  }
  if (options.size == 0 || options.size == available) return pool;
  Random random(seed, "validation-size");
  return stratified_subset(pool, labels, classes, options.size, random);
}

std::string missing_classes(const IndexList& validation, std::span<const std::int64_t> labels,
                            const std::vector<std::string>& class_names) {
  std::vector<bool> in_training(class_names.size()), in_validation(class_names.size());
  for (const std::int64_t label : labels) in_training[static_cast<std::size_t>(label)] = true;
  for (const std::int64_t index : validation) {
    in_validation[static_cast<std::size_t>(labels[static_cast<std::size_t>(index)])] = true;
  }
  std::string missing;
  for (std::size_t label = 0; label < class_names.size(); ++label) {
    if (!in_training[label] || in_validation[label]) continue;
    missing += (missing.empty() ? "" : ", ") + std::to_string(label);
    if (class_names[label] != std::to_string(label)) missing += " (" + class_names[label] + ")";
  }
  return missing.empty() ? missing : "D_val has no sample of class " + missing;
}

}  // namespace fedvg
