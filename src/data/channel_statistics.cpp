#include "data/channel_statistics.h"

#include <array>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <string>

#include "fedvg/error.h"

namespace fedvg {
namespace {

using Histogram = std::array<std::uint64_t, 256>;

Histogram histogram(const Samples& samples, std::int64_t channel) {
  const auto plane = static_cast<std::size_t>(samples.height * samples.width);
  Histogram counts{};
  for (std::int64_t i = 0; i < samples.size(); ++i) {
    const auto pixels = samples.image(i).subspan(static_cast<std::size_t>(channel) * plane, plane);
    for (const std::uint8_t pixel : pixels) ++counts[pixel];
  }
  return counts;
}

}  // namespace

ChannelStatistics channel_statistics(const Samples& samples) {
  ChannelStatistics statistics;
  for (std::int64_t channel = 0; channel < samples.channels; ++channel) {
    const Histogram counts = histogram(samples, channel);
    std::uint64_t count = 0, sum = 0;
    for (std::size_t value = 0; value < counts.size(); ++value) {
      count += counts[value];
      sum += counts[value] * value;
    }
    const double mean = static_cast<double>(sum) / static_cast<double>(count);
    double squares = 0;
    for (std::size_t value = 0; value < counts.size(); ++value) {
      const double distance = static_cast<double>(value) - mean;
      squares += static_cast<double>(counts[value]) * distance * distance;
    }
    if (squares == 0) {
      throw DataError("all pixels of channel " + std::to_string(channel) +
                      " of the training set are equal: data.normalize = \"dataset\" cannot "
                      "standardise them; use \"none\"");
    }
    statistics.mean.push_back(mean / 255.0);
    statistics.deviation.push_back(std::sqrt(squares / static_cast<double>(count)) / 255.0);
  }
  return statistics;
}

}  // namespace fedvg
