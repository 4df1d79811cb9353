#include "run/simulation.h"

#include <sys/resource.h>

#include <chrono>
#include <set>

#include "fedvg/error.h"
#include "fedvg/version.h"
#include "run/csv.h"
#include "run/environment.h"
#include "run/experiment.h"
#include "run/round_lines.h"
#include "run/run_folder.h"
#include "run/run_summary.h"
#include "run/setup_block.h"

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
  Simulation(Experiment& experiment, RunFolder& folder, Console& console)
      : experiment_(experiment), folder_(folder), console_(console) {}

  void begin() {
    for (const auto& line : setup_block(experiment_, folder_.path())) print(line);
    for (const auto& note : experiment_.notes()) {
      console_.say("note: " + note);
      folder_.log().info("note: " + note);
      summary_.add_note(note);
    }
    print(round_title());
  }

  void train(const std::atomic<bool>& stop) {
    const std::int64_t rounds = experiment_.configuration().train.rounds;
    try {
      for (std::int64_t round = 1; round <= rounds; ++round) {
        if (stop) throw Interrupted("stopped");
        record(run_round(round, stop));
      }
    } catch (const Interrupted&) {
      finish();
      interrupted(rounds);
    } catch (const RunError& error) {
      throw RunError(std::string(error.what()) + "\n" + rescue(error.what()));
    }
    finish();
    if (summary_.all_void()) {
      throw RunError("every round was void: the model is the initial one (" +
                     folder_.path().string() + " has the details)");
    }
  }

 private:
  RoundResult run_round(std::int64_t round, const std::atomic<bool>& stop) {
    const auto begin = Clock::now();
    Federation& federation = experiment_.federation();
    const std::string label = "round " + std::to_string(round);
    RoundResult result;
    result.record = federation.run_round(
        round, experiment_.cohorts().cohort(round), stop, [&](Federation::Progress progress) {
          console_.show_progress(label, progress.done, progress.total);
        });
    console_.clear_progress();
    if (!alone()) model_round_ = round;
    if (evaluates(round)) {
      // The round is done and counts; a stop from here on only leaves figures unmeasured.
      const auto evaluation_begin = Clock::now();
      try {
        result.test = federation.evaluate_test(stop);
        result.validation = federation.evaluate_validation(stop);
      } catch (const Interrupted&) {
      }
      result.seconds_evaluate = seconds_since(evaluation_begin);
    }
    result.seconds = seconds_since(begin);
    return result;
  }

  // Clients share nothing: the global model stays the initial one.
  bool alone() const { return experiment_.configuration().method.line == Line::local; }

  bool evaluates(std::int64_t round) const {
    const Configuration& configuration = experiment_.configuration();
    return round % configuration.evaluate.every == 0 || round == configuration.train.rounds;
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
    if (last_test_) folder_.write_confusion(last_test_->confusion);
    folder_.sync();
    const FederatedData& data = experiment_.data();
    for (const auto& line :
         summary_.lines(evaluated(), std::ssize(data.test), std::ssize(data.validation),
                        data.dataset.training.is_features ? "samples" : "images")) {
      print(line);
    }
    print(topic_line("memory", std::to_string(peak_megabytes()) + " MB at its peak"));
    print(topic_line("model", folder_.model_path().string()));
  }

  void write_model() {
    const Configuration& configuration = experiment_.configuration();
    folder_.write_model(experiment_.federation().model(),
                        {{"format", "pt"},
                         {"fedvg", FEDVG_VERSION},
                         {"model", configuration.model.name},
                         {"method", configuration.method.name},
                         {"round", std::to_string(model_round_)}});
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
    const std::int64_t finished = summary_.finished();
    const std::string message = "interrupted after " + std::to_string(finished) + " of " +
                                std::to_string(rounds) + " rounds; " + where_the_model_is();
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
  }

  void warn(const std::string& warning) {
    console_.warn(warning);
    folder_.log().warning(warning);
  }

  Experiment& experiment_;
  RunFolder& folder_;
  Console& console_;
  RunSummary summary_;
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

}  // namespace

std::filesystem::path run_simulation(RunRequest request, Console& console,
                                     const std::atomic<bool>& stop) {
  const Configuration& given = request.configuration;
  auto path =
      request.folder.value_or(default_run_folder(request.name, given.method.name, given.seed));
  if (!path.has_filename()) path = path.parent_path();  // "folder/"
  RunFolder::check(path);
  Experiment experiment(std::move(request.configuration), request.device,
                        (path / "client-state").string(), loading_of(path, console));
  console.clear_progress();
  if (stop) throw Interrupted("interrupted before the first round: nothing was written");
  const auto environment = environment_here(request.malloc);
  RunFolder folder(path,
                   {.config = experiment.configuration().text(),
                    .environment = environment_text(environment, experiment.federation().info(),
                                                    experiment.configuration().engine.threads),
                    .partition = partition_json(experiment.data()),
                    .classes = experiment.data().dataset.classes});
  Simulation simulation(experiment, folder, console);
  simulation.begin();
  simulation.train(stop);
  return path;
}

}  // namespace fedvg
