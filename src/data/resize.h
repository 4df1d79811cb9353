#pragma once

#include <cstdint>

#include "data/image_file.h"
#include "fedvg/dataset.h"

namespace fedvg {

/// The image at height x width pixels, both > 0: a triangle filter, stretched by the factor
/// where the image shrinks (antialiasing), rows first, in fixed point with rounding to bytes
/// after each pass. The numbers are those of Image.resize(…, BILINEAR) of Pillow up to 11, byte
/// for byte, and so of torchvision's resize of a PIL image; Pillow 13 takes columns first where
/// that is cheaper, which changes some by 1.
Image resize_image(const Image& image, std::int64_t height, std::int64_t width);

/// All images at size x size pixels, by several threads. Features throw OptionError.
Samples resized(const Samples& samples, std::int64_t size);

}  // namespace fedvg
