#pragma once

#include <cstdint>

#include "fedvg/dataset.h"
#include "fedvg/partition.h"

// Samples chosen out of a set.

namespace fedvg {

/// 0 to samples - 1.
IndexList all_positions(std::int64_t samples);

/// The same without those in `without`, which ascends.
IndexList all_but(std::int64_t samples, const IndexList& without);

/// floor(ratio * size) where a product that is whole but for rounding counts as whole: 0.29 of
/// 100 are 29.
std::int64_t share_of(double ratio, std::int64_t size);

/// Copies of these samples, in this order, with their labels and owners.
Samples chosen_samples(const Samples& samples, const IndexList& chosen);

}  // namespace fedvg
