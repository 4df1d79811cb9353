#include "data/choice.h"

#include <cmath>
#include <cstddef>
#include <numeric>

namespace fedvg {

IndexList all_positions(std::int64_t samples) {
  IndexList all(static_cast<std::size_t>(samples));
  std::iota(all.begin(), all.end(), std::int64_t{0});
  return all;
}

IndexList all_but(std::int64_t samples, const IndexList& without) {
  IndexList rest;
  auto next = without.begin();
  for (std::int64_t i = 0; i < samples; ++i) {
    if (next != without.end() && *next == i) {
      ++next;
    } else {
      rest.push_back(i);
    }
  }
  return rest;
}

std::int64_t share_of(double ratio, std::int64_t size) {
  return static_cast<std::int64_t>(std::floor(ratio * static_cast<double>(size) + 1e-9));
}

Samples chosen_samples(const Samples& samples, const IndexList& chosen) {
  Samples made{.channels = samples.channels,
               .height = samples.height,
               .width = samples.width,
               .is_features = samples.is_features};
  made.pixels.reserve(chosen.size() * static_cast<std::size_t>(samples.image_bytes()));
  for (const std::int64_t index : chosen) {
    const auto image = samples.image(index);
    const auto i = static_cast<std::size_t>(index);
    made.pixels.insert(made.pixels.end(), image.begin(), image.end());
    made.labels.push_back(samples.labels[i]);
    if (!samples.owners.empty()) made.owners.push_back(samples.owners[i]);
  }
  return made;
}

}  // namespace fedvg
