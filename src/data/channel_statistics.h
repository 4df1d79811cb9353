#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "fedvg/dataset.h"

namespace fedvg {

/// Of all pixels of a channel, in units of [0, 1] (byte / 255), or of all values of a
/// feature, in its own unit; the deviation is the root of the mean squared distance from the
/// mean (division by the count).
struct ChannelStatistics {
  std::vector<double> mean;                 ///< [C]
  std::vector<double> deviation;            ///< [C], > 0
  std::vector<std::int64_t> constant = {};  ///< features of one value only; deviation 1
};

/// Over the samples at positions `chosen`, at least one. For images exact up to the last
/// division: sums are of integers. Throws DataError for a channel of images whose pixels are
/// all equal, which cannot be standardised.
ChannelStatistics channel_statistics(const Samples& samples, std::span<const std::int64_t> chosen);

/// Those of one channel for each of `channels` that repeat it.
ChannelStatistics repeated(const ChannelStatistics& one, std::int64_t channels);

}  // namespace fedvg
