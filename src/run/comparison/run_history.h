#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "fedvg/value.h"
#include "run/csv.h"

namespace fedvg {

/// A run read back from its folder: what compare needs of it.
struct RunHistory {
  std::filesystem::path folder;
  std::string method;  ///< as shown, "fedprox+fedvg"
  std::int64_t seed = 0;
  std::int64_t rounds = 0;     ///< as configured
  std::int64_t finished = 0;   ///< rounds that are in rounds.csv
  std::int64_t voided = 0;     ///< finished rounds in which nobody had a weight
  bool complete = false;       ///< nothing is left to do, be it that it stopped early
  bool stopped_early = false;  ///< complete with fewer rounds than configured
  Table settings;              ///< config.toml
  CsvTable table;              ///< rounds.csv

  /// A column of rounds.csv, round by round; empty where not measured. Nothing when there is
  /// no such column. Throws DataError for a cell that is no number.
  std::optional<std::vector<std::optional<double>>> column(const std::string& name) const;
};

/// Reads config.toml, rounds.csv and, where it is there, run.json, which says whether the run
/// is complete; without it a run is complete when it has its configured rounds. Throws
/// DataError when the folder or a file is missing or damaged (rounds not 1, 2, 3, …).
RunHistory read_run_history(const std::filesystem::path& folder);

}  // namespace fedvg
