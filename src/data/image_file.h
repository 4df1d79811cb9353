#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

namespace fedvg {

/// One image of 8 bits a channel: gray (1 channel) or RGB (3).
struct Image {
  std::int64_t channels = 0, height = 0, width = 0;
  std::vector<std::uint8_t> pixels;  ///< [C, H, W], row-major
};

/// Decodes a PNG or JPEG file, told apart by content.
///
/// PNG: gray of 1 to 16 bits, RGB of 8 or 16, palette (becomes RGB), interlaced or not.
/// Transparency is dropped, the colour below it kept, as PIL's convert("RGB") does. 16 bits
/// are scaled to 8, v * 255 / 65535 rounded; colour profiles and gamma are ignored.
/// JPEG: gray and YCbCr or RGB, baseline and progressive, decoded with the exact integer
/// DCT and smooth upsampling, as PIL does; the EXIF orientation is ignored.
///
/// Throws DataError that begins with `name`: CMYK, damaged or truncated files, and anything
/// else, saying what it seems to be. Allocates in proportion to the bytes that are there,
/// whatever the header says.
Image decode_image(std::span<const std::uint8_t> bytes, const std::string& name);

}  // namespace fedvg
