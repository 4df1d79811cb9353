#pragma once

#include <cstdint>
#include <span>

#include "fedvg/random.h"

namespace fedvg {

/// Adds Gaussian noise to every number of an image, in its order. `sigma` is in units of
/// [0, 1]: a byte becomes round(byte + 255 * sigma * z), kept in [0, 255].
void add_noise(std::span<std::uint8_t> image, double sigma, Random& random);

/// The same for the floats of a row of features: `sigma` is in their own units, and nothing
/// is clamped.
void add_noise_to_features(std::span<std::uint8_t> row, double sigma, Random& random);

}  // namespace fedvg
