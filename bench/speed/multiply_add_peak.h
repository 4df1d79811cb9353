#pragma once

#include <optional>

namespace fedvg {

/// Floating-point operations in float32 that one core does a second at most, two to a
/// multiply-add: the best of short runs over `seconds` on one pinned thread, with the best
/// instruction set that the processor has. Nothing where there are no loops for it.
std::optional<double> multiply_add_peak(double seconds);

}  // namespace fedvg
