#pragma once

#include <filesystem>
#include <optional>
#include <string>

#include "run/folder_lock.h"
#include "run/sweep/sweep_plan.h"

namespace fedvg {

/// The folder of a sweep: sweep.toml, base.toml, runs.json, a folder for each run, and in logs/
/// for each run what it was started with (NAME.toml) and what it printed (NAME.txt). Locked while
/// one of these lives. Throws RunError naming the file when something cannot be written.
class SweepFolder {
 public:
  /// Throws RunError when the constructor, or write(), would refuse what is at `path`, but for
  /// another process that works in it. Neither writes nor locks.
  static void check(const std::filesystem::path& path, const SweepPlan& plan);

  /// Makes the folder where there is none. Throws RunError when what is there is no sweep, or
  /// another process works in it.
  explicit SweepFolder(const std::filesystem::path& path);
  SweepFolder(const SweepFolder&) = delete;
  SweepFolder& operator=(const SweepFolder&) = delete;

  /// sweep.toml, base.toml and runs.json, each whole or as before. True when another sweep, or
  /// one of another base, was carried out here before.
  bool write(const SweepPlan& plan);
  /// logs/NAME.toml
  void write_configuration(const SweepPlan& plan, const PlannedRun& run);

  const std::filesystem::path& path() const { return path_; }
  std::filesystem::path run(const std::string& name) const { return path_ / name; }
  std::filesystem::path configuration(const std::string& name) const;
  std::filesystem::path log(const std::string& name) const;

 private:
  std::filesystem::path path_;
  std::optional<FolderLock> lock_;
};

}  // namespace fedvg
