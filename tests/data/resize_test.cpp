#include "data/resize.h"

#include <gmock/gmock.h>

#include "data/images_testing.h"

namespace fedvg {
namespace {

using testing::Bytes;
using testing::message_of;
using testing::pattern;

Bytes gray_resized(std::int64_t height, std::int64_t width, std::int64_t to_height,
                   std::int64_t to_width) {
  return resize_image(pattern(1, height, width), to_height, to_width).pixels;
}

// By hand: 4 pixels to 2. Scale 2, support 2, so an output at 1 (and 3) sees inputs 0, 1, 2
// (centres 0.5, 1.5, 2.5) with weights 1 - d/2 = 0.75, 0.75, 0.25, of 1.75.
TEST(ResizeImage, HalvesByHand) {
  const Image image{1, 1, 4, {0, 70, 140, 210}};
  // (0 * 3 + 70 * 3 + 140) / 7 = 50; (70 + 140 * 3 + 210 * 3) / 7 = 160
  EXPECT_EQ(resize_image(image, 1, 2).pixels, (Bytes{50, 160}));
  const Image upright{1, 4, 1, {0, 70, 140, 210}};
  EXPECT_EQ(resize_image(upright, 2, 1).pixels, (Bytes{50, 160}));
}

// By hand: 2 pixels to 4. Output centres 0.25, 0.75, 1.25, 1.75 between 0.5 and 1.5.
TEST(ResizeImage, DoublesByHand) {
  const Image image{1, 1, 2, {0, 200}};
  EXPECT_EQ(resize_image(image, 1, 4).pixels, (Bytes{0, 50, 150, 200}));
}

// Pillow 11.3.0: Image.fromarray(pattern).resize((width, height), Image.BILINEAR).
TEST(ResizeImage, AgreesWithPilByteForByte) {
  EXPECT_EQ(gray_resized(5, 7, 3, 4),
            (Bytes{74, 159, 140, 137, 116, 140, 119, 103, 166, 130, 81, 166}));
  EXPECT_EQ(gray_resized(2, 3, 5, 4), (Bytes{0,   63,  139, 202, 5,   68,  144, 207, 25,  88,
                                             164, 227, 45,  108, 184, 247, 50,  113, 189, 252}));
  EXPECT_EQ(gray_resized(23, 17, 4, 5), (Bytes{130, 122, 121, 126, 138, 130, 116, 128, 139, 135,
                                               120, 115, 130, 131, 129, 125, 124, 138, 128, 129}));
  EXPECT_EQ(gray_resized(6, 4, 6, 2),
            (Bytes{72, 121, 122, 171, 100, 149, 152, 127, 168, 143, 148, 87}));
  EXPECT_EQ(gray_resized(6, 4, 3, 4),
            (Bytes{46, 111, 212, 93, 132, 137, 110, 179, 168, 160, 114, 106}));
  EXPECT_EQ(gray_resized(9, 5, 4, 8),
            (Bytes{56,  78,  112, 175, 175, 110, 131, 153, 133, 144, 155, 116, 122, 169, 101, 44,
                   167, 164, 158, 128, 112, 108, 80,  59,  136, 139, 138, 101, 114, 177, 96,  28}));
}

TEST(ResizeImage, ResizesEachChannelByItself) {
  const Image image = resize_image(pattern(3, 12, 10), 3, 3);
  EXPECT_EQ(image.channels, 3);
  EXPECT_EQ(image.height, 3);
  EXPECT_EQ(image.width, 3);
  EXPECT_EQ(image.pixels,
            (Bytes{128, 127, 125, 134, 113, 116, 130, 122, 128, 124, 145, 123, 131, 125,
                   125, 133, 130, 141, 129, 143, 120, 151, 135, 127, 168, 175, 151}));
}

TEST(ResizeImage, KeepsAnImageOfThatSizeAndAnEvenOne) {
  const Image image = pattern(3, 5, 4);
  EXPECT_EQ(resize_image(image, 5, 4).pixels, image.pixels);
  EXPECT_EQ(resize_image({1, 7, 5, Bytes(35, 255)}, 3, 9).pixels, Bytes(27, 255));
}

TEST(Resized, IsResizeImageOfEach) {
  Samples samples{.channels = 3, .height = 6, .width = 9, .pixels = {}, .labels = {}, .owners = {}};
  for (std::int64_t i = 0; i < 50; ++i) {
    Image image = pattern(3, 6, 9);
    for (auto& pixel : image.pixels) pixel = static_cast<std::uint8_t>(pixel * (i + 1));
    samples.pixels.insert(samples.pixels.end(), image.pixels.begin(), image.pixels.end());
    samples.labels.push_back(i % 4);
    samples.owners.push_back("client " + std::to_string(i % 3));
  }
  const Samples made = resized(samples, 4);
  EXPECT_EQ(made.height, 4);
  EXPECT_EQ(made.width, 4);
  EXPECT_EQ(made.labels, samples.labels);
  EXPECT_EQ(made.owners, samples.owners);
  ASSERT_EQ(made.pixels.size(), 50u * 48u);
  for (std::int64_t i = 0; i < 50; ++i) {
    const auto from = samples.image(i);
    const auto to = made.image(i);
    EXPECT_EQ(Bytes(to.begin(), to.end()),
              resize_image({3, 6, 9, Bytes(from.begin(), from.end())}, 4, 4).pixels);
  }
}

TEST(Resized, RefusesFeatures) {
  const Samples features{.channels = 1,
                         .height = 1,
                         .width = 1,
                         .pixels = Bytes(4),
                         .labels = {0},
                         .owners = {},
                         .is_features = true};
  EXPECT_THAT(message_of<OptionError>([&] { resized(features, 8); }),
              ::testing::HasSubstr("data.resize = 8 is for images"));
}

}  // namespace
}  // namespace fedvg
