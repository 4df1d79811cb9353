#include "run/checkpoints/resume.h"

#include <algorithm>
#include <set>

#include "config/resolve.h"
#include "data/wording.h"
#include "fedvg/error.h"
#include "fedvg/registry.h"
#include "fedvg/schedule.h"
#include "run/run_end.h"
#include "run/run_folder.h"
#include "run/run_settings.h"
#include "run/whole_file.h"

namespace fedvg {
namespace {

/// The config.toml of the run.
Configuration configuration_of(const std::filesystem::path& run) {
  const auto path = run / "config.toml";
  std::string why = "it is not as a run writes it";
  try {
    Configuration configuration = load_configuration(path);
    if (configuration.text() == text_in(path)) return configuration;
  } catch (const OptionError& error) {
    why = error.problems().front();
  }
  throw DataError(path.string() + ": not of a run that can be continued, or damaged: " + why +
                  "; name another folder with --out");
}

Settings settings_of(const Configuration& configuration) {
  return flat_settings(config::flattened(sections(), configuration.resolved));
}

}  // namespace

bool may_change(const std::string& key) {
  static const std::set<std::string> keys = {"train.rounds",     "engine.workers",
                                             "engine.memory",    "engine.state_memory",
                                             "checkpoint.every", "checkpoint.keep"};
  return keys.contains(key);
}

BegunRun::BegunRun(std::filesystem::path folder)
    : folder_(std::move(folder)),
      lock_(std::make_unique<FolderLock>(folder_)),
      began_with_(configuration_of(folder_)) {}

void BegunRun::check_settings(const Configuration& asked, bool data_known) const {
  const Settings before = settings_of(began_with_), now = settings_of(asked);
  std::vector<std::string> problems;
  for (const std::string& key : differing_keys(before, now)) {
    if (may_change(key)) continue;
    if (key == "partition.clients" && !data_known && !asked.clients_given) continue;
    problems.push_back(folder_.string() + ": cannot be continued with another " + key +
                       ": it began with " + value_of(before, key) + ", asked for is " +
                       value_of(now, key) + "; take that again, or another folder (--out)");
  }
  if (!problems.empty()) throw OptionError(problems);
}

void BegunRun::check_partition(const std::string& partition) const {
  const auto path = folder_ / "partition.json";
  // Absent: of a start that was killed before it wrote this.
  if (!std::filesystem::exists(path) || text_in(path) == partition) return;
  throw DataError(path.string() +
                  ": the clients have other samples now: the data set, or a file that the "
                  "configuration names, is not what the run began with (or this file was changed)");
}

std::string BegunRun::schedule_note(const Configuration& asked) const {
  const std::int64_t was = began_with_.train.rounds;
  const std::int64_t is = asked.train.rounds;
  const auto schedule = Registry<Schedule>::instance().make(asked.train.schedule);
  for (std::int64_t round = 1; round <= std::min(was, is); ++round) {
    if (schedule->factor(round, was) == schedule->factor(round, is)) continue;
    return "train.rounds is " + std::to_string(is) + " instead of " + std::to_string(was) +
           ", which changes the learning rates of train.schedule = \"" + asked.train.schedule.name +
           "\": the rounds so far had those of the shorter or longer run";
  }
  return "";
}

std::optional<BegunRun::Point> BegunRun::go_back(Federation& federation,
                                                 CheckpointFolder& checkpoints,
                                                 std::vector<std::string>& problems) const {
  const auto whole =
      checkpoints.whole_ones([&](const std::string& why) { problems.push_back(why); });
  federation.keep_client_states(checkpoints.clients());
  for (const std::int64_t round : whole) {
    try {
      Checkpoint checkpoint = checkpoints.read(round);
      RunProgress progress = progress_from(checkpoint.progress);
      RunFolder::check_tables(folder_, progress.tables);
      federation.restore(checkpoint.federation);
      return Point{std::move(checkpoint), std::move(progress)};
    } catch (const DataError& error) {
      problems.push_back("the checkpoint of round " + std::to_string(round) + ": " + error.what());
    }
  }
  if (!whole.empty()) {
    std::string text = folder_.string() + ": its checkpoints are whole, and none can be used:";
    for (const std::string& problem : problems) text += "\n" + problem;
    throw RunError(text +
                   "\nput back what is missing or was changed, or begin another run (--out)");
  }
  if (read_run_end(folder_)) {
    throw RunError(folder_.string() +
                   ": the run has ended, and there is no checkpoint from which it could go on; "
                   "begin another one (--out)");
  }
  federation.keep_client_states({});
  federation.forget_client_states();
  return std::nullopt;
}

void check_rounds(const std::filesystem::path& run, std::int64_t behind, std::int64_t asked) {
  if (behind <= asked) return;
  throw OptionError("train.rounds is " + std::to_string(asked) + ", and " + run.string() + " has " +
                    counted(behind, "round") + " behind it");
}

void check_same_inputs(const RunProgress& before, const std::map<std::string, std::string>& now) {
  for (const auto& [what, hash] : now) {
    const auto was = before.inputs.find(what);
    if (was != before.inputs.end() && was->second == hash) continue;
    throw DataError(what +
                    " is not what the run began with: put it back, or begin another run "
                    "(--out)");
  }
}

std::vector<std::string> differences(const RunProgress& before, const FederationInfo& now,
                                     const std::string& processor) {
  std::vector<std::string> notes;
  const auto compare = [&](const char* what, const std::string& was, const std::string& is) {
    if (was == is) return;
    notes.push_back(std::string(what) + ": the rounds so far ran with " + was + ", this machine " +
                    "takes " + is +
                    ": results may differ by rounding from those of an unbroken run");
  };
  const auto kind = [](const std::string& device) { return device.substr(0, device.find(':')); };
  compare("device", kind(before.device), kind(now.device));
  compare("processor", before.processor, processor);
  compare("kernels", before.kernels, now.kernels);
  compare("memory format", before.memory_format, now.memory_format);
  compare("libtorch", before.libtorch, now.libtorch_version);
  return notes;
}

}  // namespace fedvg
