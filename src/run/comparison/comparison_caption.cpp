#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <set>

#include "run/comparison/comparison_sheet.h"
#include "run/comparison/comparison_table.h"
#include "run/csv.h"

namespace fedvg {
namespace {

std::string figure_text(const Comparison& comparison) {
  const RunMetric& metric = comparison.metric;
  const ComparedColumn& first = comparison.columns.front();
  switch (metric.kind) {
    case RunMetric::Kind::rounds_to:
      return fmt::format("first round in which {} reaches {}", metric.column,
                         shortest(metric.target));
    case RunMetric::Kind::bytes:
      return fmt::format("bytes sent in both directions, in {}", byte_unit(comparison).name);
    case RunMetric::Kind::bytes_to:
      return fmt::format("bytes sent in both directions until {} reaches {}, in {}", metric.column,
                         shortest(metric.target), byte_unit(comparison).name);
    case RunMetric::Kind::column:
      break;
  }
  if (comparison.columns.size() == 2 && first.values.empty()) {
    return fmt::format("{} of the last round, and its mean over the last {}", metric.column,
                       comparison.columns[1].at.last);
  }
  switch (first.at.kind) {
    case MetricAt::Kind::best:
      return fmt::format("{} of the round that is best by {}", metric.column, comparison.criterion);
    case MetricAt::Kind::last:
      return fmt::format("{}, mean of the last {} rounds", metric.column, first.at.last);
    case MetricAt::Kind::final:
      break;
  }
  return metric.column + " of the last round";
}

std::string seeds_text(const Comparison& comparison) {
  const std::size_t seeds = common_seeds(comparison);
  if (seeds == 1) return "of one seed";
  if (seeds > 1) return fmt::format("mean ± standard deviation (n - 1) over {} seeds", seeds);
  return comparison.is_grid()
             ? "mean ± standard deviation (n - 1) over seeds, their number in brackets"
             : "mean ± standard deviation (n - 1) over seeds";
}

std::vector<const SignedRank*> tests_of(const Comparison& comparison) {
  std::vector<const SignedRank*> tests;
  for (const ComparedRow& row : comparison.rows) {
    if (row.test && row.test->p) tests.push_back(&row.test->test);
  }
  return tests;
}

std::string kind_text(const std::vector<const SignedRank*>& tests) {
  const auto exact =
      std::count_if(tests.begin(), tests.end(), [](const SignedRank* test) { return test->exact; });
  if (exact == std::ssize(tests)) return "exact";
  if (exact == 0) return "normal approximation";
  return fmt::format("exact up to n = {}, normal approximation above", kExactPairs);
}

std::string test_text(const Comparison& comparison, const std::vector<const SignedRank*>& tests) {
  std::vector<std::string> pair = comparison.options.columns;
  pair.emplace_back("seed");
  const std::string of = comparison.columns.size() == 2 && comparison.columns.front().values.empty()
                             ? " of " + figure_title(comparison, comparison.columns.front())
                             : "";
  return fmt::format(
      "p: Wilcoxon signed-rank test{} against {}, two-sided, {}; n: pairs (same {}) that differ; "
      "Holm over {} comparison{}; effect: matched-pairs rank-biserial, > 0 where the row's "
      "figures are larger",
      of, comparison.rows[*comparison.baseline].label, kind_text(tests), fmt::join(pair, " and "),
      tests.size(), tests.size() == 1 ? "" : "s");
}

// "n = 5 allows no p below 0.0625 (Holm: 0.125)", for each n that is tested exactly.
std::string least_p_text(const std::vector<const SignedRank*>& tests) {
  std::set<std::size_t> numbers;
  for (const SignedRank* test : tests) {
    if (test->exact && test->used > 0) numbers.insert(test->used);
  }
  std::vector<std::string> parts;
  bool too_few = false;
  for (const std::size_t n : numbers) {
    const double adjusted = std::min(1.0, least_p(n) * static_cast<double>(tests.size()));
    std::string part = fmt::format("n = {} allows no p below {}", n, p_text(least_p(n)));
    if (tests.size() > 1) part += fmt::format(" (Holm: {})", p_text(adjusted));
    parts.push_back(part);
    too_few = too_few || adjusted > 0.05;
  }
  std::string text = fmt::format("{}", fmt::join(parts, "; "));
  if (too_few) text += "; more seeds, or settings pooled by --columns, allow smaller ones";
  return text;
}

bool any_never(const Comparison& comparison) {
  return std::any_of(comparison.rows.begin(), comparison.rows.end(), [](const ComparedRow& row) {
    return std::any_of(row.cells.begin(), row.cells.end(),
                       [](const SeedResults& cell) { return cell.never > 0; });
  });
}

}  // namespace

std::vector<std::string> comparison_caption(const Comparison& comparison) {
  std::vector<std::string> lines = {figure_text(comparison) + ": " + seeds_text(comparison)};
  if (any_never(comparison)) {
    lines.push_back(
        "> : runs that never got there; the mean is over the others, and such a cell is not "
        "ranked");
  }
  const auto tests = tests_of(comparison);
  if (!comparison.baseline) return lines;
  if (tests.empty()) {
    lines.push_back("no test: no row has a pair with " +
                    comparison.rows[*comparison.baseline].label);
    return lines;
  }
  lines.push_back(test_text(comparison, tests));
  if (any_never(comparison)) {
    lines.push_back("in the test a run that never got there comes after every one that did");
  }
  const std::string least = least_p_text(tests);
  if (!least.empty()) lines.push_back(least);
  return lines;
}

}  // namespace fedvg
