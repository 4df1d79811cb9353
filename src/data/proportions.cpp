#include "data/proportions.h"

#include <algorithm>
#include <cmath>

namespace fedvg {

std::vector<std::int64_t> dirichlet_cuts(double alpha, std::size_t count, std::int64_t total,
                                         Random& random) {
  std::vector<double> sums(count);
  for (double& g : sums) g = random.log_gamma_variate(alpha);
  // Divided by the largest, which therefore is 1: the sum cannot vanish.
  const double largest = *std::max_element(sums.begin(), sums.end());
  double sum = 0;
  for (double& g : sums) g = sum += std::exp(g - largest);
  const double scale = static_cast<double>(total) / sum;
  std::vector<std::int64_t> cuts;
  cuts.reserve(count);
  for (const double upto : sums) cuts.push_back(std::llround(upto * scale));
  cuts.back() = total;
  return cuts;
}

}  // namespace fedvg
