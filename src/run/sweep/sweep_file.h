#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "fedvg/value.h"

namespace fedvg {

/// One key of a sweep and the values that it takes, each with its place in the file.
struct SweepAxis {
  std::string key;  ///< dotted: "partition.alpha"
  std::vector<Value> values;
  Source source;
};

/// A sweep as written (docs/sweeps.md). Every combination of the values of `grid`, with each row
/// of `zip` (its first values, its second values, …) and each of `seeds`, is one run of `base`.
struct SweepFile {
  std::filesystem::path path;
  std::filesystem::path base;  ///< a configuration, as found from the current folder
  std::filesystem::path out;   ///< folder of the sweep
  std::vector<SweepAxis> grid;
  std::vector<SweepAxis> zip;  ///< of equal lengths
  SweepAxis seeds;             ///< key "seed"; without values: the seed of `base`

  /// 1 without [zip].
  std::size_t rows() const { return zip.empty() ? 1 : zip.front().values.size(); }
  /// Runs, at most kMostRuns.
  std::size_t runs() const;
  /// grid, zip, and seeds where there are some.
  std::vector<const SweepAxis*> axes() const;

  static constexpr std::size_t kMostRuns = 10000;
};

/// Throws OptionError with every mistake of form: unknown and missing keys, no list, a value or
/// a key twice, lists of [zip] of different lengths, nothing that varies, too many runs. Whether
/// keys and values are settings shows when they are put into `base` (sweep_plan.h).
SweepFile read_sweep_file(const std::filesystem::path& path);

}  // namespace fedvg
