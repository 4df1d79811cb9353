#pragma once

#include <limits>

#include "run/comparison/compare.h"

namespace fedvg {

inline SeedResults seed_results(std::size_t seeds, double mean,
                                std::optional<double> deviation = {}) {
  SeedResults results;
  for (std::size_t i = 1; i <= seeds; ++i) results.seeds.push_back(static_cast<std::int64_t>(i));
  results.values.assign(seeds, mean);
  results.spread = Spread{mean, deviation};
  return results;
}

/// Of `seeds` some never reached the target within `limit`.
inline SeedResults never_results(std::size_t seeds, std::size_t never, double limit) {
  SeedResults results = seed_results(seeds, 12.5);
  if (never == seeds) results.spread.reset();
  results.never = never;
  results.limit = limit;
  return results;
}

/// The two usual figures of three methods.
inline Comparison three_methods(const std::string& metric = "test_accuracy") {
  Comparison comparison;
  comparison.options.metric = metric;
  comparison.metric = parse_metric(metric);
  comparison.columns = {{.values = {}, .at = {}},
                        {.values = {}, .at = {.kind = MetricAt::Kind::last, .last = 10}}};
  const auto row = [](const char* label, std::vector<SeedResults> cells) {
    return ComparedRow{
        .label = label, .values = {label}, .rounds = 50, .cells = std::move(cells), .test = {}};
  };
  comparison.rows = {
      row("fedavg", {seed_results(2, 0.48, 0.02), seed_results(2, 0.47, 0.01)}),
      row("fedvg", {seed_results(2, 0.53, 0.03), seed_results(2, 0.5, 0.02)}),
      row("fedprox", {seed_results(1, 0.5), seed_results(1, 0.51)}),
  };
  return comparison;
}

/// Two methods at two alphas.
inline Comparison two_by_two(const std::string& metric = "test_accuracy") {
  Comparison comparison = three_methods(metric);
  comparison.options.rows = {"method"};
  comparison.options.columns = {"partition.alpha"};
  comparison.columns = {{.values = {"0.1"}, .at = {}}, {.values = {"1.0"}, .at = {}}};
  comparison.rows.pop_back();
  return comparison;
}

/// Tested against fedavg: fedvg differs in 5 of 6 pairs, fedprox, where it is a row, has none.
inline Comparison tested(Comparison comparison) {
  comparison.baseline = 0;
  SignedRank test{
      .pairs = 6, .used = 5, .plus = 15, .minus = 0, .p = 0.0625, .exact = true, .effect = 1.0};
  comparison.rows[1].test = BaselineTest{.test = test, .p = 0.0625, .p_adjusted = 0.125};
  if (comparison.rows.size() > 2) comparison.rows[2].test.emplace();
  return comparison;
}

}  // namespace fedvg
