#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "run/comparison/run_metric.h"
#include "run/comparison/wilcoxon.h"
#include "run/statistics.h"

namespace fedvg {

/// What `fedvg compare` is asked.
struct CompareOptions {
  std::string metric = "test_accuracy";  ///< see parse_metric()
  std::string at = {};                   ///< see parse_at(); empty: the two usual figures
  std::int64_t last = 10;                ///< rounds of the second usual figure, >= 1
  bool last_given = false;
  std::vector<std::string> rows = {};     ///< settings; empty: a row for all that differs
  std::vector<std::string> columns = {};  ///< settings; empty: a column for each figure
  std::string baseline = {};              ///< a row; empty: no test
};

/// Everything wrong with them that can be told without reading a run.
std::vector<std::string> problems_of(const CompareOptions& options);

/// One cell: runs that differ in nothing but the seed.
struct SeedResults {
  std::vector<std::int64_t> seeds;
  std::vector<double> values;    ///< of each seed; infinity: it never reached the target
  std::optional<Spread> spread;  ///< of those that are finite
  std::size_t never = 0;         ///< how many are not
  double limit = 0;              ///< the smallest number of rounds, or bytes, of those
};

/// A row against the baseline.
struct BaselineTest {
  SignedRank test;                      ///< first: the row, second: the baseline
  std::optional<double> p, p_adjusted;  ///< Holm's; absent when there is no pair
};

struct ComparedRow {
  std::string label;
  std::vector<std::string> values;   ///< of options.rows; without them: the label
  std::int64_t rounds = 0;           ///< as configured, of its first run
  std::vector<SeedResults> cells;    ///< one a column
  std::optional<BaselineTest> test;  ///< with a baseline, but of the baseline itself
};

struct ComparedColumn {
  std::vector<std::string> values;  ///< of options.columns
  MetricAt at;
};

struct Comparison {
  CompareOptions options;
  RunMetric metric;
  std::vector<ComparedColumn> columns;
  std::vector<ComparedRow> rows;
  std::optional<std::size_t> baseline;  ///< its row
  std::string criterion;                ///< columns that say which round is best, "at best"
  std::vector<std::string> notes;       ///< runs left out and why, different lengths, …

  /// Has it columns of settings?
  bool is_grid() const { return !options.columns.empty(); }
};

/// Reads runs and sweeps and lays them out. Without rows and columns of settings every group
/// of runs that differ in nothing but the seed is a row, in the order in which they were named.
/// With them numbers are sorted, and runs of one cell must not differ in any further setting.
/// A run that is missing, damaged, unfinished, named twice, without the metric, or whose seed
/// its cell has already, is left out and noted. Tests pair by seed and column.
/// Throws OptionError for an unknown metric, setting or baseline and for cells of different
/// runs, RunError when no run is left.
Comparison compare_runs(const std::vector<std::filesystem::path>& folders,
                        const CompareOptions& options);

}  // namespace fedvg
