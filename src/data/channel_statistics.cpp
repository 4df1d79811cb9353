#include "data/channel_statistics.h"

#include <array>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <string>

#include "fedvg/error.h"

namespace fedvg {
namespace {

using Histogram = std::array<std::uint64_t, 256>;

Histogram histogram(const Samples& samples, std::span<const std::int64_t> chosen,
                    std::int64_t channel) {
  const auto plane = static_cast<std::size_t>(samples.height * samples.width);
  Histogram counts{};
  for (const std::int64_t i : chosen) {
    const auto pixels = samples.image(i).subspan(static_cast<std::size_t>(channel) * plane, plane);
    for (const std::uint8_t pixel : pixels) ++counts[pixel];
  }
  return counts;
}

ChannelStatistics feature_statistics(const Samples& samples, std::span<const std::int64_t> chosen) {
  const auto features = static_cast<std::size_t>(samples.channels);
  const auto count = static_cast<double>(chosen.size());
  std::vector<float> first(features), row(features);
  std::vector<bool> varies(features, false);
  ChannelStatistics statistics{std::vector<double>(features, 0), std::vector<double>(features, 0)};
  const auto read = [&](std::int64_t i, std::vector<float>& into) {
    const auto bytes = samples.image(i);
    std::memcpy(into.data(), bytes.data(), bytes.size());
  };
  read(chosen.front(), first);
  for (const std::int64_t i : chosen) {
    read(i, row);
    for (std::size_t f = 0; f < features; ++f) {
      statistics.mean[f] += static_cast<double>(row[f]);
      varies[f] = varies[f] || row[f] != first[f];
    }
  }
  for (double& mean : statistics.mean) mean /= count;
  for (const std::int64_t i : chosen) {
    read(i, row);
    for (std::size_t f = 0; f < features; ++f) {
      const double distance = static_cast<double>(row[f]) - statistics.mean[f];
      statistics.deviation[f] += distance * distance;
    }
  }
  for (std::size_t f = 0; f < features; ++f) {
    statistics.deviation[f] = std::sqrt(statistics.deviation[f] / count);
    if (varies[f] && statistics.deviation[f] > 0) continue;
    statistics.mean[f] = static_cast<double>(first[f]);
    statistics.deviation[f] = 1;
    statistics.constant.push_back(static_cast<std::int64_t>(f));
  }
  return statistics;
}

}  // namespace

ChannelStatistics channel_statistics(const Samples& samples, std::span<const std::int64_t> chosen) {
  if (samples.is_features) return feature_statistics(samples, chosen);
  ChannelStatistics statistics;
  for (std::int64_t channel = 0; channel < samples.channels; ++channel) {
    const Histogram counts = histogram(samples, chosen, channel);
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

ChannelStatistics repeated(const ChannelStatistics& one, std::int64_t channels) {
  const auto count = static_cast<std::size_t>(channels);
  return {std::vector<double>(count, one.mean.at(0)),
          std::vector<double>(count, one.deviation.at(0))};
}

}  // namespace fedvg
