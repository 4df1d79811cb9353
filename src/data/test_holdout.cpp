#include "data/test_holdout.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <numeric>

#include "data/stratify.h"
#include "fedvg/error.h"
#include "fedvg/random.h"
#include "fedvg/value.h"

namespace fedvg {
namespace {

void append(Samples& samples, Samples& all, std::int64_t index) {
  const auto image = all.image(index);
  const auto i = static_cast<std::size_t>(index);
  samples.pixels.insert(samples.pixels.end(), image.begin(), image.end());
  samples.labels.push_back(all.labels[i]);
  if (!all.owners.empty()) samples.owners.push_back(all.owners[i]);
}

Samples part_of(Samples& all, const IndexList& indices) {
  Samples samples{.channels = all.channels,
                  .height = all.height,
                  .width = all.width,
                  .pixels = {},
                  .labels = {},
                  .owners = {},
                  .is_features = all.is_features};
  samples.pixels.reserve(indices.size() * static_cast<std::size_t>(all.image_bytes()));
  for (const std::int64_t index : indices) append(samples, all, index);
  return samples;
}

}  // namespace

void hold_out_test(Dataset& dataset, const ReadRequest& request) {
  IndexList pool(dataset.training.labels.size());
  std::iota(pool.begin(), pool.end(), std::int64_t{0});
  const std::int64_t total = std::llround(request.test_ratio * static_cast<double>(pool.size()));
  const std::string ratio = "data.test_ratio = " + Value(request.test_ratio).text();
  if (total == 0 || total == std::ssize(pool)) {
    throw DataError(dataset.source + " has no test set, and " + ratio + " of its " +
                    std::to_string(pool.size()) + " samples is " +
                    (total == 0 ? "none" : "all of them") +
                    ": give a test set, or change data.test_ratio");
  }
  Random random(request.seed, "test");
  const IndexList test =
      stratified_subset(pool, dataset.training.labels, std::ssize(dataset.classes), total, random);
  IndexList rest;
  std::ranges::set_difference(pool, test, std::back_inserter(rest));
  dataset.test = part_of(dataset.training, test);
  dataset.training = part_of(dataset.training, rest);
  dataset.notes.push_back("test set: " + std::to_string(total) + " of the " +
                          std::to_string(pool.size()) + " samples held out, stratified by class (" +
                          ratio + "), since " + dataset.source + " comes without one");
}

}  // namespace fedvg
