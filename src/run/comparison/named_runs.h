#pragma once

#include <filesystem>
#include <string>
#include <vector>

namespace fedvg {

/// Is it the folder of a sweep: does it have a sweep.toml?
bool is_sweep(const std::filesystem::path& folder);

/// The runs' folders that these stand for: a run for itself, a sweep for each folder in it that
/// has a config.toml, first those of its plan (runs.json, where there is one) in the plan's
/// order, then others by name. Planned runs that are not there are named in `notes`, as are
/// sweeps without runs, folders that are not planned, and a damaged runs.json, which counts for
/// none.
std::vector<std::filesystem::path> named_runs(const std::vector<std::filesystem::path>& folders,
                                              std::vector<std::string>& notes);

}  // namespace fedvg
