#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "run/statistics.h"

namespace fedvg {

/// What `fedvg compare` is asked.
struct CompareOptions {
  std::string metric = "test_accuracy";  ///< a column of rounds.csv
  std::int64_t last = 10;                ///< rounds of the second figure, >= 1
};

/// Runs that differ in nothing but the seed.
struct RunGroup {
  std::string label;  ///< the method, and what else tells this group from the others
  std::int64_t rounds = 0;
  std::vector<std::int64_t> seeds;
  Spread final_value;  ///< the metric of the last round, over seeds
  Spread last_mean;    ///< each seed's mean over the last rounds that measured it
};

struct Comparison {
  CompareOptions options;
  std::vector<RunGroup> groups;    ///< in the order in which they were named
  std::vector<std::string> notes;  ///< runs left out and why, different lengths, …
};

/// Which end of a column is better; neither for what is no merit (weights, clients).
enum class Better { higher, lower, neither };
Better better_end(const std::string& metric);

/// Reads the folders and groups them. A run that is missing, damaged, unfinished, named
/// twice, or whose seed its group has already, is left out and noted. Settings that do
/// not change results (engine, report) do not separate groups.
/// Throws OptionError for an unknown metric, RunError when no run is left.
Comparison compare_runs(const std::vector<std::filesystem::path>& folders,
                        const CompareOptions& options);

}  // namespace fedvg
