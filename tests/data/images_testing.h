#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "data/image_file.h"
#include "data/testing.h"

namespace fedvg::testing {

/// What a PNG file is to hold, as libpng takes it.
struct PngContent {
  std::uint32_t height = 1, width = 1;
  int bit_depth = 8;
  int colour_type = 0;  ///< 0 gray, 2 RGB, 3 palette, 4 gray + alpha, 6 RGBA
  Bytes rows;           ///< packed, most significant byte first
  bool interlaced = false;
  Bytes palette = {};             ///< RGB triples
  Bytes palette_alpha = {};       ///< of the first entries
  bool transparent_gray = false;  ///< gray value 0 is transparent
};
Bytes png_file(const PngContent& content);

/// height x width pixels of one value, or of one colour.
Bytes gray_png(std::uint8_t value, std::uint32_t height = 2, std::uint32_t width = 2);
Bytes rgb_png(std::uint8_t red, std::uint8_t green, std::uint8_t blue, std::uint32_t height = 2,
              std::uint32_t width = 2);

/// One colour, of 1, 3 (RGB) or 4 (CMYK) channels, in quality 100.
struct JpegContent {
  std::uint32_t height = 8, width = 8;
  Bytes colour;
  bool progressive = false;
  bool ycck = false;  ///< CMYK stored as YCCK
};
Bytes jpeg_file(const JpegContent& content);

/// Writes a file, making the folders that it needs.
void put(const TemporaryFolder& folder, const std::string& name, const Bytes& content);
void put(const TemporaryFolder& folder, const std::string& name, const std::string& content);

/// Channel c, row y, column x: (37 y² + 101 x + 59 c x y + 13 y) modulo 256.
Image pattern(std::int64_t channels, std::int64_t height, std::int64_t width);

}  // namespace fedvg::testing
