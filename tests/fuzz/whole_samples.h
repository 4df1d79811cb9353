#pragma once

#include <cstddef>

#include "data/check_dataset.h"
#include "fedvg/dataset.h"
#include "fuzz/target.h"

namespace fedvg::fuzz {

/// What any reader of samples promises of those that it returns.
inline void require_whole(const Samples& samples, std::size_t classes) {
  require(samples.size() > 0 && samples.image_bytes() > 0, "nothing in the samples");
  const auto bytes = static_cast<std::size_t>(samples.size() * samples.image_bytes());
  require(samples.pixels.size() == bytes, "pixels that do not fill the images");
  for (const std::int64_t label : samples.labels) {
    require(label >= 0 && static_cast<std::size_t>(label) < classes, "a label without a class");
  }
}

/// As DatasetReader::read does; what check_dataset lets pass must be whole.
inline void check_and_require_whole(const Dataset& dataset) {
  check_dataset(dataset);
  require_whole(dataset.training, dataset.classes.size());
  require_whole(dataset.test, dataset.classes.size());
}

}  // namespace fedvg::fuzz
