#include "data/image_file.h"

#include <algorithm>
#include <array>

#include <gmock/gmock.h>

#include "data/images_testing.h"

namespace fedvg {
namespace {

using testing::Bytes;
using ::testing::HasSubstr;
using testing::jpeg_file;
using testing::message_of;
using testing::png_file;
using testing::PngContent;
using ::testing::StartsWith;

Image decoded(const Bytes& file) { return decode_image(file, "a.png"); }

std::string refusal(const Bytes& file) {
  return message_of<DataError>([&] { decode_image(file, "a.png"); });
}

TEST(Png, GrayOfEightBits) {
  const Image image = decoded(png_file({.height = 2, .width = 3, .rows = {1, 2, 3, 4, 5, 255}}));
  EXPECT_EQ(image.channels, 1);
  EXPECT_EQ(image.height, 2);
  EXPECT_EQ(image.width, 3);
  EXPECT_EQ(image.pixels, (Bytes{1, 2, 3, 4, 5, 255}));
}

TEST(Png, FewerBitsAreStretchedToTheWholeRange) {
  // 1 bit: 1, 0, 1; 2 bits: 0, 1, 2, 3; 4 bits: 0, 7, 15
  EXPECT_EQ(decoded(png_file({.width = 3, .bit_depth = 1, .rows = {0b10100000}})).pixels,
            (Bytes{255, 0, 255}));
  EXPECT_EQ(decoded(png_file({.width = 4, .bit_depth = 2, .rows = {0b00011011}})).pixels,
            (Bytes{0, 85, 170, 255}));
  EXPECT_EQ(decoded(png_file({.width = 3, .bit_depth = 4, .rows = {0x07, 0xf0}})).pixels,
            (Bytes{0, 119, 255}));
}

TEST(Png, SixteenBitsAreScaledAndRounded) {
  // 0x12ff * 255 / 65535 = 18.92, whereas its high byte is 18.
  const Image image =
      decoded(png_file({.width = 3, .bit_depth = 16, .rows = {0x12, 0xff, 0x12, 0, 0xff, 0xff}}));
  EXPECT_EQ(image.channels, 1);
  EXPECT_EQ(image.pixels, (Bytes{19, 18, 255}));
}

TEST(Png, RgbComesInPlanes) {
  const Image image = decoded(png_file({.width = 2, .colour_type = 2, .rows = {1, 2, 3, 4, 5, 6}}));
  EXPECT_EQ(image.channels, 3);
  EXPECT_EQ(image.pixels, (Bytes{1, 4, 2, 5, 3, 6}));
}

TEST(Png, TransparencyIsDroppedAndTheColourKept) {
  EXPECT_EQ(decoded(png_file({.width = 2, .colour_type = 4, .rows = {9, 0, 200, 128}})).pixels,
            (Bytes{9, 200}));
  const Image rgba =
      decoded(png_file({.width = 2, .colour_type = 6, .rows = {1, 2, 3, 0, 4, 5, 6, 255}}));
  EXPECT_EQ(rgba.channels, 3);
  EXPECT_EQ(rgba.pixels, (Bytes{1, 4, 2, 5, 3, 6}));
  const Image one_colour =
      decoded(png_file({.width = 2, .rows = {0, 7}, .transparent_gray = true}));
  EXPECT_EQ(one_colour.channels, 1);
  EXPECT_EQ(one_colour.pixels, (Bytes{0, 7}));
}

TEST(Png, PaletteBecomesRgb) {
  PngContent content{.width = 3,
                     .bit_depth = 2,
                     .colour_type = 3,
                     .rows = {0b01001000},
                     .palette = {10, 20, 30, 40, 50, 60, 70, 80, 90}};
  const Image image = decoded(png_file(content));
  EXPECT_EQ(image.channels, 3);
  EXPECT_EQ(image.pixels, (Bytes{40, 10, 70, 50, 20, 80, 60, 30, 90}));
  content.palette_alpha = {0, 128};
  EXPECT_EQ(decoded(png_file(content)).pixels, image.pixels);
}

TEST(Png, InterlacedIsTheSameImage) {
  PngContent content{.height = 9, .width = 11, .rows = testing::counting(99)};
  const Image plain = decoded(png_file(content));
  content.interlaced = true;
  const Bytes file = png_file(content);
  EXPECT_EQ(file[28], 1);  // IHDR says Adam7
  EXPECT_EQ(decoded(file).pixels, plain.pixels);
}

TEST(Png, TruncatedAnywhereIsRefused) {
  const Bytes file = png_file({.height = 9, .width = 11, .rows = testing::counting(99)});
  for (std::size_t size = 4; size < file.size(); ++size) {
    const auto message = refusal(Bytes(file.begin(), file.begin() + static_cast<long>(size)));
    ASSERT_THAT(message, StartsWith("a.png is ")) << size;
    ASSERT_THAT(message, HasSubstr("truncated")) << size;
  }
}

TEST(Png, DamageIsRefused) {
  Bytes file = png_file({.height = 9, .width = 11, .rows = testing::counting(99)});
  file[file.size() - 20] ^= 1;  // in the compressed pixels or their checksum
  EXPECT_THAT(refusal(file), StartsWith("a.png is a damaged PNG image: "));
  file = png_file({.rows = {1}});
  file[25] = 9;  // colour type, and so the header's checksum
  EXPECT_THAT(refusal(file), StartsWith("a.png is a damaged PNG image: "));
}

TEST(Png, ABigClaimIsNotBelieved) {
  Bytes file = png_file({.height = 60'000, .width = 1, .rows = Bytes(60'000)});
  // 60,000 x 999,999 pixels: width and the header's checksum (CRC-32 of its 17 bytes)
  const Bytes width = {0, 0x0f, 0x42, 0x3f}, checksum = {0xd4, 0x8c, 0x33, 0x27};
  std::copy(width.begin(), width.end(), file.begin() + 16);
  std::copy(checksum.begin(), checksum.end(), file.begin() + 29);
  EXPECT_THAT(refusal(file), HasSubstr("it claims 999999 x 60000 pixels in"));
}

TEST(Jpeg, GrayAndColour) {
  Image image = decoded(jpeg_file({.height = 9, .width = 5, .colour = {77}}));
  EXPECT_EQ(image.channels, 1);
  EXPECT_EQ(image.height, 9);
  EXPECT_EQ(image.width, 5);
  EXPECT_EQ(image.pixels, Bytes(45, 77));
  for (const bool progressive : {false, true}) {
    image = decoded(jpeg_file({.colour = {200, 30, 100}, .progressive = progressive}));
    EXPECT_EQ(image.channels, 3);
    ASSERT_EQ(image.pixels.size(), 192u);
    for (std::size_t c = 0; c < 3; ++c) {
      const int wanted = std::array{200, 30, 100}[c];
      EXPECT_NEAR(image.pixels[c * 64], wanted, 2);
      EXPECT_NEAR(image.pixels[c * 64 + 63], wanted, 2);
    }
  }
}

TEST(Jpeg, CmykIsRefusedByName) {
  EXPECT_EQ(refusal(jpeg_file({.colour = {1, 2, 3, 4}})), "a.png is a CMYK JPEG: convert to RGB");
  EXPECT_EQ(refusal(jpeg_file({.colour = {1, 2, 3, 4}, .ycck = true})),
            "a.png is a CMYK JPEG: convert to RGB");
}

TEST(Jpeg, TruncatedAnywhereIsRefused) {
  for (const bool progressive : {false, true}) {
    const Bytes file =
        jpeg_file({.height = 40, .width = 40, .colour = {9, 99, 200}, .progressive = progressive});
    for (std::size_t size = 3; size < file.size() - 2; ++size) {
      const auto message = refusal(Bytes(file.begin(), file.begin() + static_cast<long>(size)));
      ASSERT_THAT(message, StartsWith("a.png is ")) << size;
    }
  }
}

TEST(Jpeg, DamageIsRefused) {
  Bytes file = jpeg_file({.colour = {9}});
  file[5] = 0xff;  // length of the first segment
  EXPECT_THAT(refusal(file), StartsWith("a.png is "));
  file = jpeg_file({.height = 40, .width = 40, .colour = {9}});
  file.insert(file.end() - 12, {0xff, 0xd9});  // an end mark within the pixels
  EXPECT_THAT(refusal(file), HasSubstr("damaged JPEG image"));
}

TEST(DecodeImage, SaysWhatAnotherFileSeemsToBe) {
  EXPECT_EQ(refusal({}), "a.png is empty, not a PNG or JPEG image");
  EXPECT_EQ(refusal({'P', 'K', 3, 4, 0}), "a.png is a zip archive, not a PNG or JPEG image");
  EXPECT_EQ(refusal({'<', 'h', 't', 'm', 'l'}),
            "a.png is a web page or XML, not a PNG or JPEG image");
}

}  // namespace
}  // namespace fedvg
