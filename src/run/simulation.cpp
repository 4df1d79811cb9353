#include "run/simulation.h"

#include <sys/resource.h>

#include <chrono>
#include <set>

#include "data/wording.h"
#include "fedvg/error.h"
#include "fedvg/version.h"
#include "run/checkpoints/best_round.h"
#include "run/checkpoints/checkpoint.h"
#include "run/checkpoints/resume.h"
#include "run/checkpoints/run_inputs.h"
#include "run/checkpoints/run_progress.h"
#include "run/csv.h"
#include "run/environment.h"
#include "run/experiment.h"
#include "run/round_lines.h"
#include "run/run_end.h"
#include "run/run_folder.h"
#include "run/run_summary.h"
#include "run/setup_block.h"
#include "run/whole_file.h"

namespace fedvg {
namespace {

using Clock = std::chrono::steady_clock;

double seconds_since(Clock::time_point begin) {
  return std::chrono::duration<double>(Clock::now() - begin).count();
}

/// Of the process, resident.
std::int64_t peak_megabytes() {
  rusage usage{};
  getrusage(RUSAGE_SELF, &usage);
  return usage.ru_maxrss / 1024;
}

class Simulation {
 public:
  /// `inputs`: hashes_of_inputs().
  Simulation(Experiment& experiment, std::map<std::string, std::string> inputs, RunFolder& folder,
             CheckpointFolder& checkpoints, Console& console)
      : experiment_(experiment),
        folder_(folder),
        checkpoints_(checkpoints),
        console_(console),
        best_(experiment.configuration().checkpoint.best),
        inputs_(std::move(inputs)) {}

  /// `change`: what is to be said of changed settings; empty: nothing.
  void begin(const std::string& change) {
    for (const auto& line : setup_block(experiment_, folder_.path())) print(line);
    for (const auto& text : experiment_.notes()) note(text);
    for (const auto& text : resume_notes_) note(text);
    if (!change.empty()) note(change);
    if (saved_round_ > 0) {
      const std::string text = "resumed at round " + std::to_string(saved_round_ + 1);
      console_.say(text);
      folder_.log().info(text);
    }
    print(round_title());
  }

  /// Before begin(): what the checkpoint, whose state the federation has, knows of the run.
  void resume(const Checkpoint& checkpoint, RunProgress progress) {
    saved_round_ = checkpoint.round;
    const auto notes = differences(progress, experiment_.federation().info());
    resume_notes_.insert(resume_notes_.end(), notes.begin(), notes.end());
    summary_.restore(std::move(progress.summary));
    best_.restore(progress.best);
    if (checkpoint.best > 0) best_model_ = checkpoints_.read_best(checkpoint.best).tensors;
    unevaluated_ = std::move(progress.unevaluated);
    last_test_ = std::move(progress.last_test);
    model_round_ = progress.model_round;
    learning_rate_ = progress.learning_rate;
    warned_of_loss_ = std::move(progress.warned_of_loss);
  }

  /// A checkpoint that cannot be used.
  void warn_of_checkpoint(const std::string& problem) {
    const std::string warning =
        problem + "; the run goes on from an earlier one, or from the start";
    warn(warning);
    summary_.add_warning(warning);
  }

  void train(const std::atomic<bool>& stop) {
    const Configuration& configuration = experiment_.configuration();
    const std::int64_t rounds = configuration.train.rounds;
    try {
      try {
        if (unevaluated_) finish_round(*std::exchange(unevaluated_, std::nullopt), stop);
        while (rounds_behind() < rounds && !has_run_out()) {
          if (stop) throw Interrupted("stopped");
          finish_round(run_round(rounds_behind() + 1, stop), stop);
        }
      } catch (const Interrupted&) {
        console_.clear_progress();
        if (rounds_behind() > 0) save();
        finish();
        interrupted(rounds);
      }
      save();
      finish();
    } catch (const RunError& error) {
      throw RunError(std::string(error.what()) + "\n" + rescue(error.what()));
    } catch (const DamagedState& error) {
      checkpoints_.set_aside(error.version);
      throw DataError(std::string(error.what()) +
                      "; the checkpoints that name it are set aside, and --resume goes on from the "
                      "one before\n" +
                      rescue(error.what()));
    }
    if (summary_.all_void()) {
      throw RunError("every round was void: the model is the initial one (" +
                     folder_.path().string() + " has the details)");
    }
    write_whole_file(run_end_file(folder_.path()), text_of(RunEnd{rounds_behind(), has_run_out()}));
  }

 private:
  /// That the federation has behind it.
  std::int64_t rounds_behind() const { return summary_.finished() + (unevaluated_ ? 1 : 0); }

  bool has_run_out() const { return best_.has_run_out(experiment_.configuration().train.patience); }

  RoundResult run_round(std::int64_t round, const std::atomic<bool>& stop) {
    const auto begin = Clock::now();
    const std::string label = "round " + std::to_string(round);
    RoundResult result;
    result.record = experiment_.federation().run_round(
        round, experiment_.cohorts().cohort(round), stop, [&](Federation::Progress progress) {
          console_.show_progress(label, progress.done, progress.total);
        });
    console_.clear_progress();
    if (!alone()) model_round_ = round;
    result.seconds = seconds_since(begin);
    return result;
  }

  /// Evaluates the model after the round where that is due, and writes the round down. When a
  /// stop comes first the round waits for its figures until the run goes on.
  void finish_round(RoundResult result, const std::atomic<bool>& stop) {
    if (evaluates(result.record.round)) {
      const auto begin = Clock::now();
      Federation& federation = experiment_.federation();
      const RoundResult trained = result;
      try {
        result.test = federation.evaluate_test(stop);
        result.validation = federation.evaluate_validation(stop);
        if (experiment_.configuration().evaluate.clients) {
          result.clients = federation.evaluate_clients(stop);
        }
      } catch (const Interrupted&) {
        unevaluated_ = trained;
        throw;
      }
      result.seconds_evaluate = seconds_since(begin);
      result.seconds += result.seconds_evaluate;
    }
    record(result);
    const std::int64_t every = experiment_.configuration().checkpoint.every;
    if (every > 0 && result.record.round % every == 0) save();
  }

  // Clients share nothing: the global model stays the initial one.
  bool alone() const { return experiment_.configuration().method.line == Line::local; }

  bool evaluates(std::int64_t round) const {
    const Configuration& configuration = experiment_.configuration();
    return round % configuration.evaluate.every == 0 || round == configuration.train.rounds;
  }

  /// A checkpoint of the rounds behind, unless there is one.
  void save() {
    if (rounds_behind() == saved_round_) return;
    folder_.sync();
    Federation& federation = experiment_.federation();
    const FederationInfo& info = federation.info();
    const bool has_best = best_.is_known() && !alone();
    const Checkpoint checkpoint{.round = rounds_behind(),
                                .best = has_best ? best_.round() : 0,
                                .progress = text_of(RunProgress{.tables = folder_.table_sizes(),
                                                                .unevaluated = unevaluated_,
                                                                .summary = summary_.state(),
                                                                .best = best_.state(),
                                                                .last_test = last_test_,
                                                                .model_round = model_round_,
                                                                .learning_rate = learning_rate_,
                                                                .warned_of_loss = warned_of_loss_,
                                                                .inputs = inputs_,
                                                                .kernels = info.kernels,
                                                                .memory_format = info.memory_format,
                                                                .libtorch = info.libtorch_version}),
                                .federation = federation.save()};
    checkpoints_.write(
        checkpoint, [&] { return best_model_; }, metadata(best_.round()));
    federation.keep_client_states(checkpoints_.clients());
    saved_round_ = checkpoint.round;
  }

  void record(const RoundResult& result) {
    const Configuration& configuration = experiment_.configuration();
    const RoundRecord& round = result.record;
    const std::int64_t every = configuration.report.layers_every;
    const bool layers = every > 0 && round.round % every == 0;
    folder_.add(result,
                layers ? experiment_.federation().info().tensors : std::vector<TensorInfo>());
    summary_.add(result);
    last_test_ = result.test;
    const bool due = round.round % configuration.evaluate.every == 0;
    if (best_.add(result, due) && !alone()) best_model_ = experiment_.federation().model();
    if (round.learning_rate != learning_rate_) {
      learning_rate_ = round.learning_rate;
      folder_.log().info("learning rate " + shortest(learning_rate_) + " from round " +
                         std::to_string(round.round) + " on");
    }
    for (const auto& warning : round_warnings(round)) warn(warning);
    warn_of_loss(round.round, result.test, "the test set");
    warn_of_loss(round.round, result.validation, "D_val");
    const std::int64_t rounds_left = configuration.train.rounds - round.round;
    print(round_line(result, static_cast<double>(rounds_left) * summary_.seconds_per_round()));
  }

  // Once a set; the summary names the rounds.
  void warn_of_loss(std::int64_t round, const std::optional<Evaluation>& evaluation,
                    const char* set) {
    if (!evaluation) return;
    const std::string warning = loss_warning(*evaluation, evaluated(), set);
    if (warning.empty() || !warned_of_loss_.insert(set).second) return;
    warn("round " + std::to_string(round) + ": " + warning);
  }

  const char* evaluated() const {
    return alone() ? "mean over clients' own models" : "global model";
  }

  void finish() {
    console_.clear_progress();
    write_model();
    if (!best_model_.empty()) folder_.write_best_model(best_model_, metadata(best_.round()));
    if (last_test_) folder_.write_confusion(last_test_->confusion);
    folder_.sync();
    const FederatedData& data = experiment_.data();
    for (const auto& line :
         summary_.lines(evaluated(), std::ssize(data.test), std::ssize(data.validation),
                        data.dataset.training.is_features ? "samples" : "images")) {
      print(line);
    }
    if (!best_model_.empty()) print(topic_line("best model", best_text()));
    if (has_run_out()) print(topic_line("stopped", early_text()));
    print(topic_line("memory", std::to_string(peak_megabytes()) + " MB at its peak"));
    print(topic_line("model", folder_.model_path().string()));
  }

  void write_model() {
    folder_.write_model(experiment_.federation().model(), metadata(model_round_));
  }

  /// Of a model after a round.
  std::map<std::string, std::string> metadata(std::int64_t round) const {
    const Configuration& configuration = experiment_.configuration();
    return {{"format", "pt"},
            {"fedvg", FEDVG_VERSION},
            {"model", configuration.model.name},
            {"method", configuration.method.name},
            {"round", std::to_string(round)}};
  }

  std::string best_text() const {
    return best_.metric() + " " + shortest(best_.value()) + ", after round " +
           std::to_string(best_.round()) + ": " + (folder_.path() / "best.safetensors").string();
  }

  std::string early_text() const {
    const std::string what = best_.is_known()
                                 ? best_.metric() + " " + shortest(best_.value()) + " of round " +
                                       std::to_string(best_.round()) + " was not bettered"
                                 : best_.metric() + " was never a finite number";
    return "early, after round " + std::to_string(rounds_behind()) + ": " + what + " in " +
           std::to_string(best_.not_bettered()) + " evaluations (train.patience)";
  }

  // After a fault, which may be a full disk: what can be saved of the run, in one line.
  std::string rescue(const std::string& fault) {
    console_.clear_progress();
    try {
      folder_.log().error(fault);
      write_model();
      return where_the_model_is();
    } catch (const RunError& error) {
      return error.what();
    }
  }

  [[noreturn]] void interrupted(std::int64_t rounds) {
    const std::string message = "interrupted after " + std::to_string(rounds_behind()) + " of " +
                                std::to_string(rounds) + " rounds" +
                                (unevaluated_ ? ", the last not evaluated yet" : "") + "; " +
                                where_the_model_is() + "; go on with the same command and --resume";
    folder_.log().warning(message);
    throw Interrupted(message);
  }

  std::string where_the_model_is() const {
    const std::string which = model_round_ == 0
                                  ? "the initial model"
                                  : "the model after round " + std::to_string(model_round_);
    return which + " is in " + folder_.model_path().string();
  }

  void print(const std::string& line) {
    const bool shown = console_.print(line);
    folder_.log().info(line);
    if (shown || !results_shown_) return;
    results_shown_ = false;
    const std::string warning = "standard output is closed or full: the run goes on, and " +
                                (folder_.path() / "log.txt").string() + " has what it prints";
    warn(warning);
    summary_.add_warning(warning);
  }

  void note(const std::string& text) {
    console_.say("note: " + text);
    folder_.log().info("note: " + text);
    summary_.add_note(text);
  }

  void warn(const std::string& warning) {
    console_.warn(warning);
    folder_.log().warning(warning);
  }

  Experiment& experiment_;
  RunFolder& folder_;
  CheckpointFolder& checkpoints_;
  Console& console_;
  RunSummary summary_;
  BestRound best_;
  std::map<std::string, std::string> inputs_;
  std::vector<NamedArray> best_model_;      // of the best round; empty: there is none
  std::int64_t saved_round_ = 0;            // of the newest checkpoint
  std::optional<RoundResult> unevaluated_;  // trained, and stopped before its figures were there
  std::vector<std::string> resume_notes_;
  std::set<std::string> warned_of_loss_;  // on which sets
  std::optional<Evaluation> last_test_;   // of the last round, where it was measured
  std::int64_t model_round_ = 0;          // that the federation's model has behind it
  double learning_rate_ = 0;              // of the last round
  bool results_shown_ = true;             // so far
};

// Decoded images are kept beside the run folders; a bar shows when reading takes long.
DataLoading loading_of(const std::filesystem::path& run_folder, Console& console) {
  constexpr double kPatience = 1;  // seconds
  const auto show = [&console, begin = Clock::now()](std::int64_t done, std::int64_t total) {
    if (seconds_since(begin) > kPatience) console.show_progress("reading images", done, total);
  };
  return {.cache_folder = (run_folder.parent_path() / ".fedvg-cache").string(), .progress = show};
}

[[noreturn]] void refuse_fewer_rounds(const std::filesystem::path& folder, std::int64_t behind,
                                      std::int64_t asked) {
  throw OptionError("train.rounds is " + std::to_string(asked) + ", and " + folder.string() +
                    " has " + counted(behind, "round") + " behind it");
}

/// The run in the folder has ended, and the configuration asks for no more rounds.
bool has_ended(const std::filesystem::path& folder, const Configuration& configuration,
               Console& console) {
  const auto end = read_run_end(folder);
  if (!end) return false;
  const std::int64_t rounds = configuration.train.rounds;
  if (end->rounds > rounds) refuse_fewer_rounds(folder, end->rounds, rounds);
  const bool whole = std::filesystem::exists(folder / "rounds.csv") &&
                     std::filesystem::exists(folder / "model.safetensors");
  if (!end->is_of(rounds) || !whole) return false;
  console.print(topic_line("finished",
                           "already, " + counted(end->rounds, "round") + " in " + folder.string()));
  return true;
}

}  // namespace

std::filesystem::path run_simulation(RunRequest request, Console& console,
                                     const std::atomic<bool>& stop) {
  const Configuration& given = request.configuration;
  auto path =
      request.folder.value_or(default_run_folder(request.name, given.method.name, given.seed));
  if (!path.has_filename()) path = path.parent_path();  // "folder/"
  std::unique_ptr<FolderLock> lock;
  std::string change;  // of what is asked for, to be said
  if (request.resume && RunFolder::holds_run(path)) {
    lock = std::make_unique<FolderLock>(path);
    check_own_configuration(path);
    check_same_settings(path, given, /*data_known=*/false);
    if (has_ended(path, given, console)) return path;
    change = schedule_note(path, given);
  } else if (!request.resume || !std::filesystem::is_directory(path)) {
    RunFolder::check(path);
  }
  Experiment experiment(std::move(request.configuration), request.device,
                        (path / "client-state").string(), loading_of(path, console));
  console.clear_progress();
  const Configuration& configuration = experiment.configuration();
  if (configuration.train.patience > 0 && experiment.data().validation.empty()) {
    throw OptionError("train.patience: stopping early goes by D_val, and there is none");
  }
  const std::string partition = partition_json(experiment.data());
  const bool resumes = lock != nullptr;
  if (lock) {
    check_same_settings(path, configuration, /*data_known=*/true);
    check_same_partition(path, partition);
  }
  if (stop) throw Interrupted("interrupted before the first round: nothing was written");

  CheckpointFolder checkpoints(path / "checkpoints", configuration.checkpoint.keep);
  std::vector<std::string> problems;
  std::optional<ResumePoint> found;
  if (lock) found = go_back(path, experiment.federation(), checkpoints, problems);
  if (lock && !found) {
    if (read_run_end(path)) {
      throw RunError(path.string() +
                     ": the run has ended, and there is no checkpoint from which it could go on; "
                     "begin another one (--out)");
    }
    experiment.federation().keep_client_states({});
    experiment.federation().forget_client_states();
  }
  auto inputs = hashes_of_inputs(experiment);
  if (found) check_same_inputs(found->progress, inputs);
  if (found && found->checkpoint.round > configuration.train.rounds) {
    refuse_fewer_rounds(path, found->checkpoint.round, configuration.train.rounds);
  }
  const RunFolder::Documents documents{
      .config = configuration.text(),
      .environment =
          environment_text(environment_here(request.malloc), experiment.federation().info()),
      .partition = partition,
      .classes = experiment.data().dataset.classes};
  std::optional<RunFolder> folder;
  if (lock) {
    std::error_code ignored;
    std::filesystem::remove(run_end_file(path), ignored);  // it asks for more rounds
    const auto tables = found ? std::optional(found->progress.tables) : std::nullopt;
    folder.emplace(path, std::move(lock), documents, tables);
  } else {
    folder.emplace(path, documents);
  }
  Simulation simulation(experiment, std::move(inputs), *folder, checkpoints, console);
  for (const std::string& problem : problems) simulation.warn_of_checkpoint(problem);
  if (found) simulation.resume(found->checkpoint, std::move(found->progress));
  if (resumes && !found) change = "there is no checkpoint: the run starts at round 1";
  simulation.begin(change);
  simulation.train(stop);
  return path;
}

}  // namespace fedvg
