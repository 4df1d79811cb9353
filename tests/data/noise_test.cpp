#include "data/noise.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstring>
#include <vector>

#include <gtest/gtest.h>

namespace fedvg {
namespace {

using Bytes = std::vector<std::uint8_t>;

TEST(Noise, IsTheStreamsNormalsInUnitsOf255) {
  Bytes image = {100, 128, 150};
  Random random(1, "test");
  add_noise(image, 0.02, random);
  Random again(1, "test");
  for (const int before : {100, 128, 150}) {
    const auto wanted = std::lround(before + 5.1 * again.normal());
    EXPECT_EQ(image[static_cast<std::size_t>(before == 100 ? 0 : before == 128 ? 1 : 2)], wanted);
  }
}

// 100,000 bytes of 128 with deviation 0.1 * 255 = 25.5, which 128 is 5 times: nothing is
// clamped. Mean within 5 * 25.5 / sqrt(100,000) = 0.4 and deviation within 0.3.
TEST(Noise, HasTheDeviationThatIsAskedFor) {
  Bytes image(100'000, 128);
  Random random(2, "test");
  add_noise(image, 0.1, random);
  double sum = 0, squares = 0;
  for (const double byte : image) {
    sum += byte;
    squares += byte * byte;
  }
  const double mean = sum / 1e5;
  EXPECT_NEAR(mean, 128, 0.4);
  EXPECT_NEAR(std::sqrt(squares / 1e5 - mean * mean), 25.5, 0.3);
}

TEST(Noise, StaysInTheBytes) {
  Bytes black(1000, 0), white(1000, 255);
  Random random(3, "test");
  add_noise(black, 0.5, random);
  add_noise(white, 0.5, random);
  const auto count = [](const Bytes& bytes, int value) {
    return std::count(bytes.begin(), bytes.end(), static_cast<std::uint8_t>(value));
  };
  // Half of the noise points out of the range and is cut off there.
  EXPECT_NEAR(static_cast<double>(count(black, 0)), 500, 80);
  EXPECT_NEAR(static_cast<double>(count(white, 255)), 500, 80);
  EXPECT_EQ(count(black, 255) > 0, true);  // 2 deviations up
}

TEST(Noise, OfFeaturesIsNotClamped) {
  const std::array<float, 3> before = {-7, 0.5f, 1e6f};
  Bytes row(sizeof before);
  std::memcpy(row.data(), before.data(), sizeof before);
  Random random(4, "test");
  add_noise_to_features(row, 3, random);
  std::array<float, 3> after = {};
  std::memcpy(after.data(), row.data(), sizeof after);
  Random again(4, "test");
  for (std::size_t i = 0; i < 3; ++i) {
    EXPECT_EQ(after[i], static_cast<float>(before[i] + 3 * again.normal()));
  }
}

}  // namespace
}  // namespace fedvg
