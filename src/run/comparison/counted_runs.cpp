#include "run/comparison/counted_runs.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <set>

#include "config/nearest.h"
#include "fedvg/error.h"
#include "run/csv.h"

namespace fedvg {
namespace {

namespace fs = std::filesystem;
using Notes = std::vector<std::string>;

void leave_out(const fs::path& folder, const std::string& why, Notes& notes) {
  notes.push_back(folder.string() + " is left out: " + why);
}

std::vector<RunHistory> read_runs(const std::vector<fs::path>& folders, Notes& notes) {
  std::vector<RunHistory> runs;
  std::set<fs::path> seen;
  for (const auto& folder : folders) {
    std::error_code ignored;
    if (!seen.insert(fs::weakly_canonical(folder / "", ignored)).second) {
      leave_out(folder, "named twice", notes);
      continue;
    }
    try {
      runs.push_back(read_run_history(folder));
    } catch (const DataError& error) {
      leave_out(folder, error.what(), notes);
    }
  }
  return runs;
}

// A column that some runs have may be missing in others, which are then left out.
void check_columns(const std::vector<RunHistory>& runs, const RunMetric& metric) {
  std::set<std::string> known;
  for (const RunHistory& run : runs) {
    known.insert(run.table.columns.begin(), run.table.columns.end());
  }
  if (runs.empty()) return;
  known.erase("round");
  for (const std::string& column : metric.columns()) {
    if (known.contains(column)) continue;
    std::vector<std::string> candidates(known.begin(), known.end());
    if (metric.kind == RunMetric::Kind::column) {
      candidates.insert(candidates.end(), {"bytes", "bytes-to:X", "rounds-to:X"});
    }
    throw OptionError("--metric: " +
                      config::unknown_text("column", column, "in rounds.csv", candidates));
  }
}

std::string unfinished_text(const RunHistory& run) {
  if (run.finished < run.rounds) {
    return fmt::format("it has {} of {} rounds", run.finished, run.rounds);
  }
  if (run.finished > run.rounds) {
    return fmt::format("it has {} rounds, but its configuration asks for {}", run.finished,
                       run.rounds);
  }
  return "it is not finished: run.json says so";
}

CountedRun counted(const RunHistory& run, const RunMetric& metric,
                   const std::vector<MetricAt>& ats) {
  CountedRun result{.folder = run.folder.string(),
                    .method = run.method,
                    .seed = run.seed,
                    .rounds = run.rounds,
                    .settings = flat_settings(run.settings),
                    .deciding = {},
                    .measured = {},
                    .criterion = best_criterion(run)};
  result.deciding = deciding_settings(result.settings);
  for (const MetricAt& at : ats) result.measured.push_back(measure(run, metric, at));
  return result;
}

void note_stops(const std::vector<std::string>& stopped, Notes& notes) {
  if (!stopped.empty()) {
    notes.push_back(fmt::format("stopped early: {}", fmt::join(stopped, ", ")));
  }
}

void note_never(const std::vector<CountedRun>& runs, const RunMetric& metric, Notes& notes) {
  std::vector<std::string> never;
  for (const CountedRun& run : runs) {
    if (!run.measured.front().reached()) never.push_back(run.folder);
  }
  if (never.empty()) return;
  notes.push_back(fmt::format("{} of {} runs never reach {} {}: {}", never.size(), runs.size(),
                              metric.column, shortest(metric.target), fmt::join(never, ", ")));
}

}  // namespace

std::vector<CountedRun> count_runs(const std::vector<fs::path>& folders, const RunMetric& metric,
                                   const std::vector<MetricAt>& ats, Notes& notes) {
  const auto histories = read_runs(folders, notes);
  check_columns(histories, metric);
  std::vector<CountedRun> runs;
  std::vector<std::string> stopped;
  for (const RunHistory& run : histories) {
    if (!run.complete) {
      leave_out(run.folder, unfinished_text(run), notes);
      continue;
    }
    try {
      runs.push_back(counted(run, metric, ats));
    } catch (const DataError& error) {
      leave_out(run.folder, error.what(), notes);
      continue;
    }
    if (run.voided > 0) {
      notes.push_back(fmt::format("{}: {} of {} rounds were void", run.folder.string(), run.voided,
                                  run.finished));
    }
    if (run.stopped_early) {
      stopped.push_back(
          fmt::format("{} ({} of {} rounds)", run.folder.string(), run.finished, run.rounds));
    }
  }
  note_stops(stopped, notes);
  note_never(runs, metric, notes);
  return runs;
}

}  // namespace fedvg
