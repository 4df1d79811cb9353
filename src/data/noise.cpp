#include "data/noise.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstring>

namespace fedvg {

void add_noise(std::span<std::uint8_t> image, double sigma, Random& random) {
  for (std::uint8_t& byte : image) {
    const double noisy = std::round(byte + 255 * sigma * random.normal());
    byte = static_cast<std::uint8_t>(std::clamp(noisy, 0.0, 255.0));
  }
}

void add_noise_to_features(std::span<std::uint8_t> row, double sigma, Random& random) {
  for (std::size_t at = 0; at < row.size(); at += sizeof(float)) {
    float number = 0;
    std::memcpy(&number, row.data() + at, sizeof number);
    number = static_cast<float>(number + sigma * random.normal());
    std::memcpy(row.data() + at, &number, sizeof number);
  }
}

}  // namespace fedvg
