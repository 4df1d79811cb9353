#pragma once

#include <optional>
#include <span>

namespace fedvg {

/// Of one number or more.
struct Spread {
  double mean = 0;
  std::optional<double> deviation;  ///< of the sample (n - 1); absent for one number
};

/// `numbers` must not be empty.
Spread spread_of(std::span<const double> numbers);

/// Middle one, or the mean of the two middle ones; `numbers` must not be empty.
double median_of(std::span<const double> numbers);

}  // namespace fedvg
