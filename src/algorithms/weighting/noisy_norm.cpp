#include "algorithms/weighting/noisy_norm.h"

#include <algorithm>
#include <cmath>
#include <cstddef>

namespace fedvg {

NormEstimate estimate_norm(double whole, const GroupNorms& groups, std::size_t column) {
  const std::size_t count = groups.norms.size();
  NormEstimate estimate{whole, std::vector<double>(count, 0.0)};
  if (count < 2 || whole == 0) return estimate;
  // Everything in units of whole^2, so that nothing overflows.
  std::vector<double> images, squares;
  double scored = 0, sum = 0;
  for (std::size_t j = 0; j < count; ++j) {
    const double ratio = groups.norms[j][column] / whole;
    images.push_back(static_cast<double>(groups.images[j]));
    squares.push_back(ratio * ratio);
    scored += images[j];
    sum += images[j] * squares[j];
  }
  const auto all = static_cast<double>(groups.all);
  const double slope = std::max((sum - scored) / static_cast<double>(count - 1), 0.0);
  const double square = std::max(1 - slope * (1 / scored - 1 / all), slope / all);
  // With the slope bounded the residuals' mean is not 0 by itself.
  double centre = 0;
  for (std::size_t j = 0; j < count; ++j) {
    squares[j] -= 1 + slope * (1 / images[j] - 1 / scored);
    centre += images[j] * squares[j] / scored;
  }
  for (std::size_t j = 0; j < count; ++j) {
    estimate.deviations[j] = (squares[j] - centre) / (2 * square);
  }
  if (scored < all) estimate.norm = whole * std::sqrt(square);
  return estimate;
}

}  // namespace fedvg
