#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "run/comparison/run_history.h"
#include "run/comparison/run_metric.h"
#include "run/run_settings.h"

namespace fedvg {

/// A finished run with what is compared of it.
struct CountedRun {
  std::string folder;
  std::string method;
  std::int64_t seed = 0;
  std::int64_t rounds = 0;         ///< as configured
  Settings settings;               ///< all
  Settings deciding;               ///< see deciding_settings()
  std::vector<Measured> measured;  ///< one for each `at`
  std::string criterion;           ///< of its best round
};

/// Reads the runs that count, in their order; the others are named in `notes` with the reason,
/// as are void rounds, early stops and targets that were never reached.
/// Throws OptionError with the columns there are when no run has one that the metric needs.
std::vector<CountedRun> count_runs(const std::vector<std::filesystem::path>& folders,
                                   const RunMetric& metric, const std::vector<MetricAt>& ats,
                                   std::vector<std::string>& notes);

}  // namespace fedvg
