#pragma once

#include "fedvg/dataset.h"

namespace fedvg {

/// Throws DataError unless the data set is what DatasetReader promises: training and test
/// part not empty, as many images as labels, one image size, every label below the number
/// of classes (a message names part, position, value and number of classes), names of classes and
/// clients UTF-8 without control characters.
void check_dataset(const Dataset& dataset);

}  // namespace fedvg
