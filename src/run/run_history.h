#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "fedvg/value.h"

namespace fedvg {

/// A run read back from its folder: what compare needs of it.
struct RunHistory {
  std::filesystem::path folder;
  std::string method;  ///< as shown, "fedprox+fedvg"
  std::int64_t seed = 0;
  std::int64_t rounds = 0;  ///< as configured
  std::int64_t finished = 0;
  std::int64_t voided = 0;                    ///< finished rounds in which nobody had a weight
  Table settings;                             ///< config.toml
  std::vector<std::optional<double>> metric;  ///< of each finished round, where measured
};

/// Reads config.toml and column `metric` of rounds.csv. Throws DataError when the folder
/// or a file is missing or damaged (rounds not 1, 2, 3, …), and OptionError with the
/// columns there are when `metric` is none of them.
RunHistory read_run_history(const std::filesystem::path& folder, const std::string& metric);

}  // namespace fedvg
