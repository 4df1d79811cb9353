#include "kernels/kernel_table.h"

#include <algorithm>

namespace fedvg::kernels {

// Panels of at most 32 columns: the last may be padded to that.
std::size_t convolution_scratch(const ConvolutionShape& shape) {
  constexpr std::int64_t kPanel = 32;
  const auto padded = [](std::int64_t n) { return (n + kPanel - 1) / kPanel * kPanel; };
  return static_cast<std::size_t>(
      shape.taps() * std::max(shape.in * padded(shape.out), shape.out * padded(shape.in)));
}

}  // namespace fedvg::kernels
