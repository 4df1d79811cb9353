#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "fedvg/dataset.h"

namespace fedvg {

/// A hash of each image's pixels, [N].
std::vector<std::uint64_t> image_hashes(const Samples& samples);

/// 16 hexadecimal digits that change with any pixel, label, image size or order of samples.
/// Not cryptographic. `hashes` are image_hashes(samples).
std::string fingerprint(const Samples& samples, std::span<const std::uint64_t> hashes);

}  // namespace fedvg
