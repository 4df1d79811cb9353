#pragma once

#include <cstdint>
#include <filesystem>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "run/checkpoints/checkpoint.h"
#include "run/checkpoints/run_progress.h"
#include "run/configuration.h"
#include "run/folder_lock.h"

namespace fedvg {

/// Settings that a run may be continued with in another form: how long it is, how it is spread
/// over the machine, and when it is saved.
bool may_change(const std::string& key);

/// Of a run that is to go on: what it began with, and where it got to. Its folder is locked for
/// others while one lives.
class BegunRun {
 public:
  /// Throws RunError when another process works in the folder, DataError when its config.toml is
  /// none that a run wrote: damaged, or of somebody who has other things in the folder.
  explicit BegunRun(std::filesystem::path folder);

  /// Throws OptionError naming every setting that is not as the run began with, but for those that
  /// may_change(). `data_known`: with partition.clients, which data may decide.
  void check_settings(const Configuration& asked, bool data_known) const;
  /// Throws DataError when `partition` is not that of the run: other data than it began with.
  void check_partition(const std::string& partition) const;
  /// Says so when the number of rounds is not that of the run and changes learning rates of
  /// rounds that are still to come; empty: it does not.
  std::string schedule_note(const Configuration& asked) const;

  /// Where it goes on.
  struct Point {
    Checkpoint checkpoint;
    RunProgress progress;
  };
  /// Puts the federation into the state of the newest checkpoint that is whole. Absent: there is
  /// none, and the federation is that of a start. `problems` receives what is wrong with newer
  /// ones. Throws RunError when there are whole ones, and none can be used, and when the run has
  /// ended and there are none.
  std::optional<Point> go_back(Federation& federation, CheckpointFolder& checkpoints,
                               std::vector<std::string>& problems) const;

  /// The lock, for whoever works in the folder from now on.
  std::unique_ptr<FolderLock> take_lock() { return std::move(lock_); }

 private:
  std::filesystem::path folder_;
  std::unique_ptr<FolderLock> lock_;
  Configuration began_with_;
};

/// Throws OptionError when a run has more rounds `behind` it than are asked for.
void check_rounds(const std::filesystem::path& run, std::int64_t behind, std::int64_t asked);

/// Throws DataError naming what is not what the run began with: test set, D_val, the files that the
/// configuration names.
void check_same_inputs(const RunProgress& before, const std::map<std::string, std::string>& now);

/// For people: what makes the rest of the run round otherwise than it would have. Each a note.
/// `processor`: this machine's.
std::vector<std::string> differences(const RunProgress& before, const FederationInfo& now,
                                     const std::string& processor);

}  // namespace fedvg
