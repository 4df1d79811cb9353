#include "data/resize.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <string>
#include <vector>

#include "data/parallel_loop.h"
#include "fedvg/error.h"

namespace fedvg {
namespace {

constexpr int kBits = 22;  // behind the point of a weight; 8 for the pixel, 2 to spare

// Which inputs make an output, and with which weights.
struct Taps {
  std::int64_t first = 0;
  std::vector<std::int32_t> weights;
};

std::vector<Taps> taps(std::int64_t from, std::int64_t to) {
  const double scale = static_cast<double>(from) / static_cast<double>(to);
  const double support = std::max(scale, 1.0);
  std::vector<Taps> all(static_cast<std::size_t>(to));
  for (std::int64_t i = 0; i < to; ++i) {
    const double center = (static_cast<double>(i) + 0.5) * scale;
    const auto first = std::max<std::int64_t>(static_cast<std::int64_t>(center - support + 0.5), 0);
    const auto end = std::min(static_cast<std::int64_t>(center + support + 0.5), from);
    std::vector<double> weights;
    double sum = 0;
    for (std::int64_t at = first; at < end; ++at) {
      const double distance = std::abs((static_cast<double>(at) - center + 0.5) / support);
      weights.push_back(std::max(1.0 - distance, 0.0));
      sum += weights.back();
    }
    Taps& tap = all[static_cast<std::size_t>(i)];
    tap.first = first;
    for (const double weight : weights) {
      tap.weights.push_back(static_cast<std::int32_t>(0.5 + weight / sum * (1 << kBits)));
    }
  }
  return all;
}

class Resizer {
 public:
  Resizer(std::int64_t height, std::int64_t width, std::int64_t to_height, std::int64_t to_width)
      : height_(height),
        width_(width),
        to_height_(to_height),
        to_width_(to_width),
        across_(taps(width, to_width)),
        down_(taps(height, to_height)) {}

  // One plane: `in` [height, width], `out` [to_height, to_width].
  void plane(const std::uint8_t* in, std::uint8_t* out) const {
    if (width_ == to_width_) return vertically(in, out);
    if (height_ == to_height_) return horizontally(in, out);
    std::vector<std::uint8_t> narrowed(static_cast<std::size_t>(height_ * to_width_));
    horizontally(in, narrowed.data());
    vertically(narrowed.data(), out);
  }

 private:
  static constexpr std::int32_t kHalf = 1 << (kBits - 1);

  // Rounded weights may sum to a little more than 1.
  static std::uint8_t to_byte(std::int32_t sum) {
    return static_cast<std::uint8_t>(std::clamp(sum >> kBits, 0, 255));
  }

  void horizontally(const std::uint8_t* in, std::uint8_t* out) const {
    for (std::int64_t y = 0; y < height_; ++y, in += width_) {
      for (const Taps& tap : across_) {
        const std::uint8_t* from = in + tap.first;
        std::int32_t sum = kHalf;
        for (const std::int32_t weight : tap.weights) sum += weight * *from++;
        *out++ = to_byte(sum);
      }
    }
  }

  void vertically(const std::uint8_t* in, std::uint8_t* out) const {
    if (height_ == to_height_) {
      std::copy_n(in, height_ * to_width_, out);
      return;
    }
    std::vector<std::int32_t> sums(static_cast<std::size_t>(to_width_));
    for (const Taps& tap : down_) {
      std::fill(sums.begin(), sums.end(), kHalf);
      const std::uint8_t* from = in + tap.first * to_width_;
      for (const std::int32_t weight : tap.weights) {
        for (std::int32_t& sum : sums) sum += weight * *from++;
      }
      for (const std::int32_t sum : sums) *out++ = to_byte(sum);
    }
  }

  std::int64_t height_, width_, to_height_, to_width_;
  std::vector<Taps> across_, down_;
};

}  // namespace

Image resize_image(const Image& image, std::int64_t height, std::int64_t width) {
  const Resizer resizer(image.height, image.width, height, width);
  Image made{image.channels, height, width, {}};
  made.pixels.resize(static_cast<std::size_t>(image.channels * height * width));
  for (std::int64_t c = 0; c < image.channels; ++c) {
    resizer.plane(image.pixels.data() + c * image.height * image.width,
                  made.pixels.data() + c * height * width);
  }
  return made;
}

Samples resized(const Samples& samples, std::int64_t size) {
  if (samples.is_features) {
    throw OptionError("data.resize = " + std::to_string(size) +
                      " is for images, but these samples are rows of features: leave it out");
  }
  Samples made{.channels = samples.channels,
               .height = size,
               .width = size,
               .pixels = {},
               .labels = samples.labels,
               .owners = samples.owners,
               .is_features = false};
  made.pixels.resize(static_cast<std::size_t>(made.size() * made.image_bytes()));
  const Resizer resizer(samples.height, samples.width, size, size);
  const std::int64_t from = samples.height * samples.width, to = size * size;
  parallel_loop(samples.size(), [&](std::int64_t i) {
    for (std::int64_t plane = i * samples.channels; plane < (i + 1) * samples.channels; ++plane) {
      resizer.plane(samples.pixels.data() + plane * from, made.pixels.data() + plane * to);
    }
  });
  return made;
}

}  // namespace fedvg
