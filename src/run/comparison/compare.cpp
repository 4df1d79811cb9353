#include "run/comparison/compare.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <set>

#include "config/nearest.h"
#include "fedvg/error.h"
#include "run/comparison/counted_runs.h"
#include "run/comparison/named_runs.h"
#include "run/comparison/run_grid.h"

namespace fedvg {
namespace {

using Texts = std::vector<std::string>;

// ---- What is asked --------------------------------------------------------------------------

bool by_settings(const CompareOptions& options) {
  return !options.rows.empty() || !options.columns.empty();
}

// Columns of settings stand for themselves.
Texts rows_of(const CompareOptions& options) {
  return options.rows.empty() && !options.columns.empty() ? Texts{"method"} : options.rows;
}

// The figures of a cell: the two usual ones where nothing else is asked.
std::vector<MetricAt> figures_of(const CompareOptions& options, const RunMetric& metric) {
  if (!options.at.empty()) return {parse_at(options.at)};
  if (metric.kind != RunMetric::Kind::column || !options.columns.empty()) return {MetricAt{}};
  return {MetricAt{}, {.kind = MetricAt::Kind::last, .last = options.last}};
}

void check_lines(const Texts& rows, const Texts& columns, Texts& problems) {
  std::set<std::string> seen;
  const auto check = [&](const Texts& keys, const char* option) {
    for (const std::string& key : keys) {
      const std::string name = key == "method.name" ? "method" : key;
      if (key.empty()) {
        problems.push_back(fmt::format("{}: an empty name; wanted KEY or KEY,KEY", option));
      } else if (key == "seed") {
        problems.push_back(fmt::format("{}: seed: results are averaged over seeds", option));
      } else if (!seen.insert(name).second) {
        problems.push_back(fmt::format("{}: {} is named twice", option, key));
      }
    }
  };
  check(rows, "--rows");
  check(columns, "--columns");
}

// ---- Cells ----------------------------------------------------------------------------------

SeedResults results_of(const std::vector<const CountedRun*>& runs, std::size_t figure) {
  SeedResults results;
  std::vector<double> finite;
  for (const CountedRun* run : runs) {
    const Measured& measured = run->measured[figure];
    results.seeds.push_back(run->seed);
    results.values.push_back(measured.value);
    if (measured.reached()) {
      finite.push_back(measured.value);
      continue;
    }
    results.limit = results.never == 0 ? measured.limit : std::min(results.limit, measured.limit);
    ++results.never;
  }
  if (!finite.empty()) results.spread = spread_of(finite);
  return results;
}

void fill(Comparison& comparison, const RunGrid& grid, const std::vector<MetricAt>& figures) {
  for (const RunLine& line : grid.columns) {
    for (const MetricAt& at : figures) comparison.columns.push_back({line.values, at});
  }
  for (std::size_t row = 0; row < grid.rows.size(); ++row) {
    ComparedRow compared{.label = grid.rows[row].label,
                         .values = grid.rows[row].values,
                         .rounds = 0,
                         .cells = {},
                         .test = {}};
    for (const auto& runs : grid.cells[row]) {
      if (compared.rounds == 0 && !runs.empty()) compared.rounds = runs.front()->rounds;
      for (std::size_t figure = 0; figure < figures.size(); ++figure) {
        compared.cells.push_back(results_of(runs, figure));
      }
    }
    comparison.rows.push_back(std::move(compared));
  }
}

// ---- Tests ----------------------------------------------------------------------------------

// By its label, or its method where that is one row only.
std::size_t baseline_row(const Comparison& comparison, const RunGrid& grid) {
  const std::string& wanted = comparison.options.baseline;
  Texts labels, of_method;
  std::size_t row_of_method = 0;
  for (std::size_t row = 0; row < grid.rows.size(); ++row) {
    const std::string& label = grid.rows[row].label;
    if (label == wanted) return row;
    labels.push_back(label);
    const auto& cells = grid.cells[row];
    const bool same = std::all_of(cells.begin(), cells.end(), [&](const auto& runs) {
      return runs.empty() || runs.front()->method == wanted;
    });
    if (!same) continue;
    of_method.push_back(label);
    row_of_method = row;
  }
  if (of_method.size() == 1) return row_of_method;
  if (!of_method.empty()) {
    throw OptionError(fmt::format(
        "--baseline: '{}' is {} rows: {}; name one of them, or pool over what differs: --rows "
        "method --columns KEY",
        wanted, of_method.size(), fmt::join(of_method, "; ")));
  }
  throw OptionError("--baseline: " + config::unknown_text("row", wanted, "", labels));
}

struct Pairs {
  std::vector<double> row, baseline;
  Texts alone;  // results of either that the other lacks
};

void add_pairs(const SeedResults& row, const SeedResults& baseline, const std::string& place,
               Pairs& pairs) {
  std::map<std::int64_t, double> open;  // of the baseline
  for (std::size_t i = 0; i < baseline.seeds.size(); ++i) {
    open[baseline.seeds[i]] = baseline.values[i];
  }
  const auto name = [&](std::int64_t seed) {
    return place + (place.empty() ? "" : " ") + "seed " + std::to_string(seed);
  };
  for (std::size_t i = 0; i < row.seeds.size(); ++i) {
    const auto partner = open.find(row.seeds[i]);
    if (partner == open.end()) {
      pairs.alone.push_back(name(row.seeds[i]));
      continue;
    }
    pairs.row.push_back(row.values[i]);
    pairs.baseline.push_back(partner->second);
    open.erase(partner);
  }
  for (const auto& [seed, value] : open) pairs.alone.push_back(name(seed));
}

// Of the first figure; columns of settings are pooled.
Pairs pairs_of(const Comparison& comparison, const RunGrid& grid, std::size_t row) {
  const std::size_t figures = comparison.columns.size() / grid.columns.size();
  Pairs pairs;
  for (std::size_t column = 0; column < grid.columns.size(); ++column) {
    add_pairs(comparison.rows[row].cells[column * figures],
              comparison.rows[*comparison.baseline].cells[column * figures],
              grid.columns[column].label, pairs);
  }
  return pairs;
}

void note_test(const ComparedRow& row, const Pairs& pairs, const std::string& baseline,
               Texts& notes) {
  const SignedRank& test = row.test->test;
  const std::string names = row.label + " against " + baseline;
  if (!pairs.alone.empty()) {
    notes.push_back(fmt::format("{}: not paired, as only one of the two has it: {}", names,
                                fmt::join(pairs.alone, ", ")));
  }
  if (test.pairs == 0) {
    notes.push_back(names + ": no pair (n = 0), so no test");
  } else if (test.used == 0) {
    notes.push_back(fmt::format("{}: all {} differences are 0, so p is 1", names, test.pairs));
  } else if (test.used < test.pairs) {
    notes.push_back(fmt::format("{}: {} of {} differences are 0 and dropped", names,
                                test.pairs - test.used, test.pairs));
  }
}

void test_against_baseline(Comparison& comparison, const RunGrid& grid) {
  comparison.baseline = baseline_row(comparison, grid);
  const std::string& baseline = comparison.rows[*comparison.baseline].label;
  if (comparison.rows.size() < 2) {
    throw OptionError("--baseline: there is no other row to test against " + baseline);
  }
  std::vector<double> p;
  for (std::size_t row = 0; row < comparison.rows.size(); ++row) {
    if (row == *comparison.baseline) continue;
    const Pairs pairs = pairs_of(comparison, grid, row);
    BaselineTest& test = comparison.rows[row].test.emplace();
    test.test = signed_rank_test(pairs.row, pairs.baseline);
    if (test.test.pairs > 0) {
      test.p = test.test.p;
      p.push_back(*test.p);
    }
    note_test(comparison.rows[row], pairs, baseline, comparison.notes);
  }
  const auto adjusted = holm_adjusted(p);
  auto next = adjusted.begin();
  for (ComparedRow& row : comparison.rows) {
    if (row.test && row.test->p) row.test->p_adjusted = *next++;
  }
}

// ---- Notes ----------------------------------------------------------------------------------

void note_lengths(const std::vector<CountedRun>& runs, Comparison& comparison) {
  std::set<std::int64_t> lengths;
  for (const CountedRun& run : runs) lengths.insert(run.rounds);
  if (lengths.size() > 1 && !by_settings(comparison.options)) {
    std::string text = "runs of different length are compared:";
    for (const ComparedRow& row : comparison.rows) {
      text += " " + row.label + ": " + std::to_string(row.rounds) + " rounds;";
    }
    text.pop_back();
    comparison.notes.push_back(text);
  }
  std::int64_t last = 0;
  for (const ComparedColumn& column : comparison.columns) last = std::max(last, column.at.last);
  if (*lengths.begin() < last) {
    comparison.notes.push_back(
        fmt::format("a run of {} rounds has no last {}: the mean is over all its rounds",
                    *lengths.begin(), last));
  }
}

std::string criteria_of(const std::vector<CountedRun>& runs) {
  std::set<std::string> criteria;
  for (const CountedRun& run : runs) criteria.insert(run.criterion);
  return fmt::format("{}", fmt::join(criteria, " or "));
}

}  // namespace

Texts problems_of(const CompareOptions& options) {
  Texts problems;
  const auto attempt = [&](const char* option, const auto& parse) {
    try {
      parse();
    } catch (const OptionError& error) {
      problems.push_back(std::string(option) + ": " + error.what());
    }
  };
  bool is_column = true;
  attempt("--metric",
          [&] { is_column = parse_metric(options.metric).kind == RunMetric::Kind::column; });
  if (!options.at.empty()) attempt("--at", [&] { parse_at(options.at); });
  if (!is_column && !options.at.empty()) {
    problems.push_back("--at: a column has a value at each round, " + options.metric +
                       " has one for the whole run");
  }
  if (options.last < 1) {
    problems.push_back("--last: must be >= 1, got " + std::to_string(options.last));
  } else if (options.last_given &&
             (!options.at.empty() || !options.columns.empty() || !is_column)) {
    problems.push_back(fmt::format(
        "--last: there is no second figure with --at, --columns, or a metric that is no column; "
        "--at last:{} makes the mean the only one",
        options.last));
  }
  check_lines(options.rows, options.columns, problems);
  return problems;
}

Comparison compare_runs(const std::vector<std::filesystem::path>& folders,
                        const CompareOptions& options) {
  const Texts problems = problems_of(options);
  if (!problems.empty()) throw OptionError(problems);
  Comparison comparison{.options = options,
                        .metric = parse_metric(options.metric),
                        .columns = {},
                        .rows = {},
                        .baseline = {},
                        .criterion = {},
                        .notes = {}};
  comparison.options.rows = rows_of(options);
  const auto figures = figures_of(options, comparison.metric);
  const auto runs = count_runs(named_runs(folders, comparison.notes), comparison.metric, figures,
                               comparison.notes);
  if (runs.empty()) {
    std::string text = "no run is left to compare";
    for (const std::string& note : comparison.notes) text += "\n" + note;
    throw RunError(text);
  }
  RunGrid grid = by_settings(options)
                     ? grid_of_settings(runs, comparison.options.rows, comparison.options.columns)
                     : grid_of_groups(runs);
  drop_repeated_seeds(grid, comparison.notes);
  fill(comparison, grid, figures);
  comparison.criterion = criteria_of(runs);
  note_lengths(runs, comparison);
  if (by_settings(options)) {
    for (auto& note : grid_notes(grid, comparison.options.rows, comparison.options.columns)) {
      comparison.notes.push_back(std::move(note));
    }
  }
  if (!options.baseline.empty()) test_against_baseline(comparison, grid);
  return comparison;
}

}  // namespace fedvg
