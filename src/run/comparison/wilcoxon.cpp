#include "run/comparison/wilcoxon.h"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <numeric>

namespace fedvg {
namespace {

struct Difference {
  double size;  // > 0
  bool positive;
  std::int64_t doubled_rank = 0;  // twice the (mid)rank, so that it is whole
};

// What the rounding of the results can add to a difference.
double rounding_of(std::span<const double> first, std::span<const double> second) {
  double largest = 0;
  for (const auto results : {first, second}) {
    for (const double result : results) {
      if (std::isfinite(result)) largest = std::max(largest, std::abs(result));
    }
  }
  return 16 * std::numeric_limits<double>::epsilon() * largest;
}

// Those that are not zero, the smallest first.
std::vector<Difference> differences_of(std::span<const double> first,
                                       std::span<const double> second, double rounding) {
  std::vector<Difference> differences;
  for (std::size_t i = 0; i < first.size(); ++i) {
    if (first[i] == second[i]) continue;  // two infinities have no difference
    const double difference = first[i] - second[i];
    if (std::abs(difference) > rounding) {
      differences.push_back({.size = std::abs(difference), .positive = difference > 0});
    }
  }
  std::sort(differences.begin(), differences.end(),
            [](const Difference& a, const Difference& b) { return a.size < b.size; });
  return differences;
}

// Gives each difference its rank; returns the number of each run of equal ones.
std::vector<std::size_t> rank(std::vector<Difference>& differences, double rounding) {
  std::vector<std::size_t> ties;
  for (std::size_t begin = 0, end = 0; begin < differences.size(); begin = end) {
    const double size = differences[begin].size;
    while (end < differences.size() &&
           (differences[end].size == size || differences[end].size - size <= rounding)) {
      ++end;
    }
    for (std::size_t i = begin; i < end; ++i) {
      differences[i].doubled_rank = static_cast<std::int64_t>(begin + 1 + end);
    }
    ties.push_back(end - begin);
  }
  return ties;
}

// Counts are at most 2^50, so they and p are exact.
double exact_p(const std::vector<Difference>& differences, std::int64_t plus, std::int64_t minus) {
  std::vector<std::uint64_t> assignments(static_cast<std::size_t>(plus + minus) + 1);
  assignments[0] = 1;  // by the doubled sum of the positive ranks
  std::size_t reached = 0;
  for (const Difference& difference : differences) {
    const auto step = static_cast<std::size_t>(difference.doubled_rank);
    reached += step;
    for (std::size_t sum = reached; sum >= step; --sum) assignments[sum] += assignments[sum - step];
  }
  const auto extreme = assignments.begin() + std::min(plus, minus);
  const auto tail = std::accumulate(assignments.begin(), extreme + 1, std::uint64_t{0});
  return std::min(1.0,
                  std::ldexp(static_cast<double>(tail), 1 - static_cast<int>(differences.size())));
}

double normal_p(const SignedRank& test, const std::vector<std::size_t>& ties) {
  const auto n = static_cast<double>(test.used);
  double variance = n * (n + 1) * (2 * n + 1);
  for (const std::size_t tie : ties) {
    const auto t = static_cast<double>(tie);
    variance -= (t * t * t - t) / 2;
  }
  const double z = (test.plus - n * (n + 1) / 4) / std::sqrt(variance / 24);
  return std::erfc(std::abs(z) / std::sqrt(2.0));
}

}  // namespace

SignedRank signed_rank_test(std::span<const double> first, std::span<const double> second) {
  const double rounding = rounding_of(first, second);
  auto differences = differences_of(first, second, rounding);
  SignedRank test;
  test.pairs = first.size();
  test.used = differences.size();
  if (differences.empty()) return test;

  const auto ties = rank(differences, rounding);
  std::int64_t plus = 0, minus = 0;  // doubled
  for (const Difference& difference : differences) {
    (difference.positive ? plus : minus) += difference.doubled_rank;
  }
  test.plus = static_cast<double>(plus) / 2;
  test.minus = static_cast<double>(minus) / 2;
  test.effect = static_cast<double>(plus - minus) / static_cast<double>(plus + minus);
  test.exact = test.used <= kExactPairs;
  test.p = test.exact ? exact_p(differences, plus, minus) : normal_p(test, ties);
  return test;
}

double least_p(std::size_t used) {
  return used == 0 ? 1.0 : std::ldexp(1.0, 1 - static_cast<int>(used));
}

std::vector<double> holm_adjusted(std::span<const double> p) {
  std::vector<std::size_t> order(p.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::stable_sort(order.begin(), order.end(),
                   [&](std::size_t a, std::size_t b) { return p[a] < p[b]; });
  std::vector<double> adjusted(p.size());
  double largest = 0;
  for (std::size_t i = 0; i < order.size(); ++i) {
    largest = std::max(largest, std::min(1.0, static_cast<double>(p.size() - i) * p[order[i]]));
    adjusted[order[i]] = largest;
  }
  return adjusted;
}

}  // namespace fedvg
