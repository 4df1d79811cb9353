#pragma once

#include <cstddef>
#include <optional>
#include <span>
#include <vector>

namespace fedvg {

/// Wilcoxon's signed-rank test of paired results, two-sided.
struct SignedRank {
  std::size_t pairs = 0;  ///< all that were given
  std::size_t used = 0;   ///< those that differ; equal ones are dropped
  double plus = 0;        ///< sum of the ranks of pairs whose first is larger
  double minus = 0;       ///< of those whose second is larger
  double p = 1;           ///< 1 when no pair differs
  bool exact = true;      ///< false: by the normal approximation
  /// Matched-pairs rank-biserial correlation, (plus - minus) / (plus + minus): 1 when the
  /// first is larger in every pair, -1 when the second is. Absent when no pair differs.
  std::optional<double> effect;
};

/// Up to so many differing pairs p is exact.
inline constexpr std::size_t kExactPairs = 50;

/// Tests `first` against `second`, of equal length: pair i is (first[i], second[i]).
/// Equal sizes of differences get the mean of their ranks. p is exact given these ranks: the
/// share of all 2^used assignments of signs that are at least as far from the middle. Above
/// kExactPairs it is that of the normal distribution with the variance for ties, without
/// continuity correction.
/// Differences that rounding alone keeps apart (0.3 - 0.2 and 0.2 - 0.1) count as equal.
/// Infinity is larger than every number, equal to itself, and all differences to it are alike;
/// NaN is not allowed.
SignedRank signed_rank_test(std::span<const double> first, std::span<const double> second);

/// The smallest p that the exact test can give with so many differing pairs: 2^(1 - used).
double least_p(std::size_t used);

/// Holm's step-down adjustment over all of these, in their order.
std::vector<double> holm_adjusted(std::span<const double> p);

}  // namespace fedvg
