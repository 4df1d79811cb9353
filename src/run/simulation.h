#pragma once

#include <atomic>
#include <filesystem>
#include <optional>
#include <string>

#include "run/configuration.h"
#include "run/console.h"
#include "run/malloc_settings.h"

namespace fedvg {

/// One run, as asked for.
struct RunRequest {
  Configuration configuration;
  std::string name = "run";  ///< of the configuration, in the default folder's name
  std::optional<std::filesystem::path> folder;  ///< else default_run_folder()
  bool resume = false;                          ///< go on with the run in the folder, if any
  std::string device = "cpu";                   ///< or "cuda:N"
  MallocSettings malloc;                        ///< for environment.json
};

/// Loads the data, trains round by round, and writes the run folder, which is made only
/// when nothing is left that could be refused. Returns the folder.
///
/// A run that is resumed goes on, bitwise, behind its newest checkpoint that is whole, or from
/// the start when there is none, and is left alone when it has ended. Throws OptionError when
/// other settings are asked for than it began with, DataError when its data are others.
///
/// The first `stop` drops the round in progress, writes a checkpoint and the model of the last
/// finished round, and throws Interrupted, saying where. A fault in a round (RunError) likewise
/// leaves the tables and the last good model. Throws RunError at the end when every round
/// was void. Otherwise what Experiment and RunFolder throw.
std::filesystem::path run_simulation(RunRequest request, Console& console,
                                     const std::atomic<bool>& stop);

}  // namespace fedvg
