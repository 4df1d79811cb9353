#pragma once

#include <cstdint>
#include <vector>

namespace fedvg {

/// Weights under which every class that occurs counts the same: n / (classes that occur x
/// samples of the class), as scikit-learn's "balanced"; 0 for a class that does not occur.
/// `samples` by class, n their sum. Over the samples the weights' mean is 1.
std::vector<double> balanced_class_weights(const std::vector<std::int64_t>& samples);

}  // namespace fedvg
