#include "data/fingerprint.h"

#include <set>

#include <gtest/gtest.h>

namespace fedvg {
namespace {

Samples samples() {
  return {.channels = 1,
          .height = 3,
          .width = 3,
          .pixels = {1, 2, 3, 4, 5, 6, 7, 8, 9, 11, 12, 13, 14, 15, 16, 17, 18, 19},
          .labels = {0, 1}};
}

std::string fingerprint_of(const Samples& data) { return fingerprint(data, image_hashes(data)); }

TEST(Fingerprint, HashesEachImage) {
  Samples data = samples();
  const auto hashes = image_hashes(data);
  ASSERT_EQ(hashes.size(), 2u);
  EXPECT_NE(hashes[0], hashes[1]);
  std::copy_n(data.pixels.begin(), 9, data.pixels.begin() + 9);
  const auto equal = image_hashes(data);
  EXPECT_EQ(equal[0], hashes[0]);
  EXPECT_EQ(equal[1], hashes[0]);
}

TEST(Fingerprint, ChangesWithEverything) {
  std::set<std::string> seen = {fingerprint_of(samples())};
  EXPECT_EQ(seen.begin()->size(), 16u);
  EXPECT_EQ(seen.begin()->find_first_not_of("0123456789abcdef"), std::string::npos);
  std::size_t variants = 1;
  const auto expect_new = [&](const Samples& data) {
    seen.insert(fingerprint_of(data));
    EXPECT_EQ(seen.size(), ++variants);
  };
  for (std::size_t i = 0; i < samples().pixels.size(); ++i) {
    Samples data = samples();
    ++data.pixels[i];
    expect_new(data);
  }
  for (const auto& labels : {std::vector<std::int64_t>{1, 0}, {0, 0}, {0, 2}}) {
    Samples data = samples();
    data.labels = labels;
    expect_new(data);
  }
  Samples wide = samples();
  wide.height = 1, wide.width = 9;
  expect_new(wide);
  Samples fewer = samples();
  fewer.labels.pop_back();
  fewer.pixels.resize(9);
  expect_new(fewer);
}

}  // namespace
}  // namespace fedvg
