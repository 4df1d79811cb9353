#include "data/validation.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <vector>

#include "data/choice.h"
#include "data/noise.h"
#include "data/stratify.h"
#include "fedvg/error.h"
#include "fedvg/random.h"

namespace fedvg {

IndexList held_out(const ValidationOptions& options, std::span<const std::int64_t> labels,
                   std::int64_t classes, std::uint64_t seed) {
  const std::int64_t total = std::llround(options.ratio * static_cast<double>(labels.size()));
  Random random(seed, "validation");
  return stratified_subset(all_positions(std::ssize(labels)), labels, classes, total, random);
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

IndexList imbalanced(const ValidationOptions& options, const IndexList& pool,
                     std::span<const std::int64_t> labels, std::int64_t classes,
                     std::uint64_t seed) {
  if (options.imbalance == 0) return pool;
  double sum = 0;
  for (std::int64_t i = 0; i < classes; ++i) sum = 1 + options.imbalance * sum;
  const double half = static_cast<double>(pool.size()) / 2;
  auto lists = by_class(pool, labels, classes);
  std::vector<bool> chosen(labels.size());
  Random random(seed, "validation-imbalance");
  double power = 1;
  for (auto& list : lists) {
    // A share that is whole but for rounding counts as whole.
    const auto wanted = static_cast<std::size_t>(std::floor(power * half / sum + 1e-9));
    random.shuffle(std::span(list));
    list.resize(std::min(wanted, list.size()));
    for (const std::int64_t index : list) chosen[static_cast<std::size_t>(index)] = true;
    power *= options.imbalance;
  }
  IndexList left = pool;
  std::erase_if(left, [&](std::int64_t index) { return !chosen[static_cast<std::size_t>(index)]; });
  return left;
}

Samples noisy_copy(const ValidationOptions& options, const Samples& samples,
                   const IndexList& chosen, std::uint64_t seed) {
  Samples copy = chosen_samples(samples, chosen);
  const auto bytes = static_cast<std::size_t>(samples.image_bytes());
  for (std::size_t i = 0; i < chosen.size(); ++i) {
    const auto numbers = std::span(copy.pixels).subspan(i * bytes, bytes);
    Random random(seed, "validation-noise", 0, chosen[i]);
    samples.is_features ? add_noise_to_features(numbers, options.noise, random)
                        : add_noise(numbers, options.noise, random);
  }
  return copy;
}

std::string missing_classes(const IndexList& validation, std::span<const std::int64_t> labels,
                            std::span<const std::int64_t> training_labels,
                            const std::vector<std::string>& class_names) {
  std::vector<bool> in_training(class_names.size()), in_validation(class_names.size());
  for (const std::int64_t label : training_labels)
    in_training[static_cast<std::size_t>(label)] = true;
  for (const std::int64_t index : validation) {
    in_validation[static_cast<std::size_t>(labels[static_cast<std::size_t>(index)])] = true;
  }
  std::string missing;
  for (std::size_t label = 0; label < class_names.size(); ++label) {
    if (!in_training[label] || in_validation[label]) continue;
    missing += (missing.empty() ? "" : ", ") + std::to_string(label);
    if (class_names[label] != std::to_string(label)) missing += " (" + class_names[label] + ")";
  }
  if (missing.empty()) return missing;
  return "D_val has no sample of class " + missing +
         ": its balanced accuracy, macro F1 and macro AUROC are means over the others";
}

}  // namespace fedvg
