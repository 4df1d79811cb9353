#include "run/statistics.h"

#include <algorithm>
#include <cmath>
#include <vector>

namespace fedvg {

Spread spread_of(std::span<const double> numbers) {
  const auto count = static_cast<double>(numbers.size());
  Spread spread;
  for (const double number : numbers) spread.mean += number / count;
  if (numbers.size() < 2) return spread;
  double squares = 0;
  for (const double number : numbers) {
    squares += (number - spread.mean) * (number - spread.mean);
  }
  spread.deviation = std::sqrt(squares / (count - 1));
  return spread;
}

double median_of(std::span<const double> numbers) {
  std::vector<double> sorted(numbers.begin(), numbers.end());
  std::sort(sorted.begin(), sorted.end());
  const std::size_t middle = sorted.size() / 2;
  return sorted.size() % 2 == 1 ? sorted[middle] : (sorted[middle - 1] + sorted[middle]) / 2;
}

}  // namespace fedvg
