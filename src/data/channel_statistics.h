#pragma once

#include <vector>

#include "fedvg/dataset.h"

namespace fedvg {

/// Of all pixels of a channel, in units of [0, 1] (byte / 255); the deviation is the root
/// of the mean squared distance from the mean (division by the count).
struct ChannelStatistics {
  std::vector<double> mean;       ///< [C]
  std::vector<double> deviation;  ///< [C], > 0
};

/// Exact up to the last division: sums are of integers. Throws DataError for a channel
/// whose pixels are all equal, which cannot be standardised.
ChannelStatistics channel_statistics(const Samples& samples);

}  // namespace fedvg
