#include "run/simulation.h"

#include "data/wording.h"
#include "engine/stopwatch.h"
#include "fedvg/error.h"
#include "run/checkpoints/checkpoint.h"
#include "run/checkpoints/resume.h"
#include "run/checkpoints/run_inputs.h"
#include "run/environment.h"
#include "run/experiment.h"
#include "run/round_loop.h"
#include "run/run_end.h"
#include "run/run_folder.h"
#include "run/setup_block.h"

namespace fedvg {
namespace {

// Decoded images are kept beside the run folders; a bar shows when reading takes long.
DataLoading loading_of(const std::filesystem::path& run_folder, Console& console) {
  static constexpr double kPatience = 1;  // seconds
  const auto show = [&console, watch = Stopwatch()](std::int64_t done, std::int64_t total) {
    if (watch.seconds() > kPatience) console.show_progress("reading images", done, total);
  };
  return {.cache_folder = (run_folder.parent_path() / ".fedvg-cache").string(), .progress = show};
}

std::filesystem::path folder_of(const RunRequest& request) {
  const Configuration& given = request.configuration;
  const auto path =
      request.folder.value_or(default_run_folder(request.name, given.method.name, given.seed));
  return path.has_filename() ? path : path.parent_path();  // "folder/"
}

/// The run in the folder has ended, and the configuration asks for no more rounds.
bool is_finished(const std::filesystem::path& folder, const Configuration& asked,
                 Console& console) {
  const auto end = read_run_end(folder);
  if (!end) return false;
  check_rounds(folder, end->rounds, asked.train.rounds);
  if (!has_ended(folder, asked.train.rounds)) return false;
  console.print(topic_line("finished",
                           "already, " + counted(end->rounds, "round") + " in " + folder.string()));
  return true;
}

void check_patience(const Experiment& experiment) {
  if (experiment.configuration().train.patience > 0 && experiment.data().validation.empty()) {
    throw OptionError("train.patience: stopping early goes by D_val, and there is none");
  }
}

RunFolder::Documents documents_of(const Experiment& experiment, std::string partition,
                                  const MallocSettings& malloc) {
  return {.config = experiment.configuration().text(),
          .environment = environment_text(environment_here(malloc), experiment.federation().info()),
          .partition = std::move(partition),
          .classes = experiment.data().dataset.classes};
}

/// Of a run that is to go on.
RunFolder reopened(const std::filesystem::path& path, BegunRun& begun,
                   const RunFolder::Documents& documents,
                   const std::optional<BegunRun::Point>& point) {
  std::error_code ignored;
  std::filesystem::remove(run_end_file(path), ignored);  // it asks for more rounds
  return {path, begun.take_lock(), documents,
          point ? std::optional(point->progress.tables) : std::nullopt};
}

}  // namespace

std::filesystem::path run_simulation(RunRequest request, Console& console,
                                     const std::atomic<bool>& stop) {
  const auto path = folder_of(request);
  std::optional<BegunRun> begun;
  std::string change;  // of what is asked for, to be said
  if (request.resume && RunFolder::holds_run(path)) {
    const Configuration& asked = request.configuration;
    begun.emplace(path);
    begun->check_settings(asked, /*data_known=*/false);
    if (is_finished(path, asked, console)) return path;
    change = begun->schedule_note(asked);
  } else if (!request.resume || !std::filesystem::is_directory(path)) {
    RunFolder::check(path);
  }
  Experiment experiment(std::move(request.configuration), request.device,
                        (path / "client-state").string(), loading_of(path, console));
  console.clear_progress();
  check_patience(experiment);
  const Configuration& configuration = experiment.configuration();
  std::string partition = partition_json(experiment.data());
  if (begun) {
    begun->check_settings(configuration, /*data_known=*/true);
    begun->check_partition(partition);
  }
  if (stop) throw Interrupted("interrupted before the first round: nothing was written");

  CheckpointFolder checkpoints(path / "checkpoints", configuration.checkpoint.keep);
  auto inputs = hashes_of_inputs(experiment);
  std::vector<std::string> problems;
  std::optional<BegunRun::Point> point;
  if (begun) point = begun->go_back(experiment.federation(), checkpoints, problems);
  if (point) {
    check_same_inputs(point->progress, inputs);
    check_rounds(path, point->checkpoint.round, configuration.train.rounds);
  } else if (begun) {
    change = "there is no checkpoint: the run starts at round 1";
  }
  const auto documents = documents_of(experiment, std::move(partition), request.malloc);
  RunFolder folder = begun ? reopened(path, *begun, documents, point) : RunFolder(path, documents);
  RoundLoop loop(experiment, std::move(inputs), folder, checkpoints, console);
  for (const std::string& problem : problems) loop.warn_of_checkpoint(problem);
  if (point) loop.resume(point->checkpoint, std::move(point->progress));
  loop.begin(change);
  loop.train(stop);
  return path;
}

}  // namespace fedvg
