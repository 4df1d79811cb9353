#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "config/overrides.h"
#include "run/sweep/sweep_file.h"
#include "run/sweep/sweep_names.h"

namespace fedvg {

/// One run of a sweep.
struct PlannedRun {
  std::string name;        ///< of its folder
  SweepSettings settings;  ///< of [grid], [zip], and its seed where the sweep has seeds
  std::string config;      ///< config.toml of its folder, as far as it is known without the data
  std::int64_t rounds = 0;
  std::int64_t workers = 0, threads = 1;  ///< as configured
};

/// All runs of a sweep, checked.
struct SweepPlan {
  SweepFile file;
  std::string base;                       ///< text of the base, as it was when it was checked
  std::vector<config::Override> changes;  ///< of all runs
  std::vector<PlannedRun> runs;           ///< values of [grid], then rows of [zip], then seeds
  std::vector<std::string> notes;         ///< to be said at start, each once
};

/// Puts every combination into the base and checks it. `changes` (--set) are put in before.
/// Throws OptionError with the mistakes of all combinations, each once, with how many runs have
/// it; also when a change is of what the sweep varies, or two runs would be the same.
SweepPlan plan_sweep(SweepFile file, std::vector<config::Override> changes);

// In these documents, as in the settings of the plan, paths are absolute: they mean the same from
// any folder.

/// The configuration of a run, for `fedvg run`: the base with changes and settings put in.
std::string run_document(const SweepPlan& plan, const PlannedRun& run);

/// sweep.toml of the sweep's folder: the same sweep of base.toml beside it.
std::string sweep_document(const SweepPlan& plan);
/// base.toml of the sweep's folder: the base with changes.
std::string base_document(const SweepPlan& plan);
/// runs.json of the sweep's folder: [{"folder": name, "settings": {dotted key: value}}, …].
std::string runs_document(const SweepPlan& plan);

/// Keys that tell the runs apart: the method first, the seed last, and of [zip] only as many as
/// tell its rows apart.
std::vector<std::string> telling_keys(const SweepFile& file);

/// "method.name = "fedvg", seed = 1"
std::string settings_text(const SweepSettings& settings);

}  // namespace fedvg
