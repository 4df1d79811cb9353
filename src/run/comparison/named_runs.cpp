#include "run/comparison/named_runs.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "data/index_lists.h"
#include "fedvg/error.h"

namespace fedvg {
namespace {

namespace fs = std::filesystem;

// Names of the folders that the sweep makes; empty without a plan. Throws DataError.
std::vector<std::string> read_plan(const fs::path& file) {
  if (!fs::exists(file)) return {};
  const nlohmann::json plan = read_json(file.string());
  if (!plan.is_array()) throw DataError(file.string() + ": wanted a list of the sweep's runs");
  std::vector<std::string> names;
  for (const auto& run : plan) {
    const auto folder = run.is_object() ? run.find("folder") : run.end();
    if (folder == run.end() || !folder->is_string()) {
      throw DataError(fmt::format("{}: entry {} of the list has no \"folder\"", file.string(),
                                  names.size() + 1));
    }
    names.push_back(folder->get<std::string>());
  }
  return names;
}

// A plan that is damaged is as good as none.
std::vector<std::string> planned_in(const fs::path& sweep, std::vector<std::string>& notes) {
  try {
    return read_plan(sweep / "runs.json");
  } catch (const DataError& error) {
    notes.push_back("damaged: " + std::string(error.what()) +
                    "; the runs that are there are compared, and missing ones are not noticed; "
                    "fedvg sweep, called again, writes this file anew");
    return {};
  }
}

std::vector<std::string> present_in(const fs::path& sweep) {
  std::vector<std::string> names;
  for (const auto& entry : fs::directory_iterator(sweep)) {
    if (fs::exists(entry.path() / "config.toml")) names.push_back(entry.path().filename().string());
  }
  std::sort(names.begin(), names.end());
  return names;
}

bool has(const std::vector<std::string>& names, const std::string& name) {
  return std::find(names.begin(), names.end(), name) != names.end();
}

void add_sweep(const fs::path& sweep, std::vector<fs::path>& runs,
               std::vector<std::string>& notes) {
  const auto planned = planned_in(sweep, notes);
  const auto present = present_in(sweep);
  if (present.empty()) notes.push_back(sweep.string() + ": a sweep without any run yet");
  std::vector<std::string> missing, others;
  for (const auto& name : planned) {
    if (has(present, name)) {
      runs.push_back(sweep / name);
    } else {
      missing.push_back(name);
    }
  }
  for (const auto& name : present) {
    if (has(planned, name)) continue;
    runs.push_back(sweep / name);
    others.push_back(name);
  }
  if (!missing.empty()) {
    notes.push_back(fmt::format("{}: {} of {} planned runs are missing: {}", sweep.string(),
                                missing.size(), planned.size(), fmt::join(missing, ", ")));
  }
  if (!planned.empty() && !others.empty()) {
    notes.push_back(fmt::format("{}: compared, though its sweep does not plan them: {}",
                                sweep.string(), fmt::join(others, ", ")));
  }
}

}  // namespace

bool is_sweep(const fs::path& folder) {
  return fs::is_regular_file(folder / "sweep.toml") && !fs::exists(folder / "config.toml");
}

std::vector<fs::path> named_runs(const std::vector<fs::path>& folders,
                                 std::vector<std::string>& notes) {
  std::vector<fs::path> runs;
  for (const auto& folder : folders) {
    if (is_sweep(folder)) {
      add_sweep(folder, runs, notes);
    } else {
      runs.push_back(folder);
    }
  }
  return runs;
}

}  // namespace fedvg
