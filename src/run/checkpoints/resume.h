#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "run/checkpoints/checkpoint.h"
#include "run/checkpoints/run_progress.h"
#include "run/configuration.h"

namespace fedvg {

/// Settings that a run may be continued with in another form: how long it is, how it is spread
/// over the machine, and when it is saved.
bool may_change(const std::string& key);

/// Throws OptionError naming every setting that is not as in the run's config.toml, but for
/// those that may_change(). `data_known`: with partition.clients, which data may decide.
void check_same_settings(const std::filesystem::path& run, const Configuration& asked,
                         bool data_known);

/// Throws DataError when the folder's config.toml is none that a run wrote: damaged, or of
/// somebody who has other things in the folder.
void check_own_configuration(const std::filesystem::path& run);

/// Throws DataError when `partition` is not that of the run: other data than it began with.
void check_same_partition(const std::filesystem::path& run, const std::string& partition);

/// Throws DataError naming what is not what the run began with: test set, D_val, the files that the
/// configuration names.
void check_same_inputs(const RunProgress& before, const std::map<std::string, std::string>& now);

/// For people: what makes the rest of the run round otherwise than it would have. Each a note.
std::vector<std::string> differences(const RunProgress& before, const FederationInfo& now);

/// Says so when the number of rounds is not that of the run and changes learning rates of rounds
/// that are still to come; empty: it does not.
std::string schedule_note(const std::filesystem::path& run, const Configuration& asked);

/// Where a run goes on.
struct ResumePoint {
  Checkpoint checkpoint;
  RunProgress progress;
};

/// Puts the federation into the state of the newest checkpoint that is whole. Absent: there is
/// none, and the federation is that of a start. `problems` receives what is wrong with newer ones.
/// Throws RunError when there are whole ones, and none can be used.
std::optional<ResumePoint> go_back(const std::filesystem::path& run, Federation& federation,
                                   CheckpointFolder& folder, std::vector<std::string>& problems);

}  // namespace fedvg
