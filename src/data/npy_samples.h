#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "data/npy.h"
#include "fedvg/dataset.h"

namespace fedvg {

/// Labels of one class each, [N] or [N, 1] integers from 0. Throws DataError naming the array
/// for other types and shapes ([N, k]: several labels a sample, which nothing here learns) and
/// for a label that is negative or 100,000 and more, naming its row.
std::vector<std::int64_t> labels_from_npy(const NpyArray& labels);

/// Images [N, H, W] or [N, H, W, C] of uint8, C from 1 to 4, with their labels, as [N, C, H, W].
/// Throws DataError naming the arrays for other types and shapes and for unequal N.
Samples images_from_npy(NpyArray images, const NpyArray& labels);

/// Rows of features [N, F], any numbers, with their labels. Throws DataError likewise, and for
/// numbers that are not finite.
Samples features_from_npy(const NpyArray& features, const NpyArray& labels);

}  // namespace fedvg
