#pragma once

#include <cstdint>
#include <span>

#include "data/channel_statistics.h"
#include "fedvg/dataset.h"

namespace fedvg {

/// What becomes of images, bytes / 255, and of features before a model sees them: nothing,
/// or (number - mean) / deviation by channel. Chosen by `data.normalize`.
class Normalization {
 public:
  static constexpr const char* kind = "normalization";
  virtual ~Normalization() = default;

  /// For each of the model's `channels`: those of `samples`, or more when gray images are
  /// repeated. Empty: nothing. What is measured is measured on the `training` part of the
  /// samples. Throws OptionError when constants and channels differ in number, DataError when
  /// the training part cannot be standardised.
  virtual ChannelStatistics statistics(const Samples& samples,
                                       std::span<const std::int64_t> training,
                                       std::int64_t channels) const = 0;
};

}  // namespace fedvg
