#pragma once

#include <atomic>
#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "run/checkpoints/best_round.h"
#include "run/checkpoints/checkpoint.h"
#include "run/checkpoints/run_progress.h"
#include "run/console.h"
#include "run/experiment.h"
#include "run/run_folder.h"
#include "run/run_summary.h"

namespace fedvg {

/// Trains a run round by round, from its start or behind a checkpoint, and keeps tables,
/// checkpoints, models and what a person watches up to date.
class RoundLoop {
 public:
  /// All but `inputs`, which are hashes_of_inputs(), must outlive it.
  RoundLoop(Experiment& experiment, std::map<std::string, std::string> inputs, RunFolder& folder,
            CheckpointFolder& checkpoints, Console& console);

  /// A checkpoint that cannot be used.
  void warn_of_checkpoint(const std::string& problem);
  /// Before begin(): what the checkpoint, whose state the federation has, knows of the run.
  void resume(const Checkpoint& checkpoint, RunProgress progress);
  /// Says what is about to run. `change`: what is to be said of changed settings; empty: nothing.
  void begin(const std::string& change);
  /// The rounds that are left. Throws what run_simulation() says of rounds.
  void train(const std::atomic<bool>& stop);

 private:
  /// That the federation has behind it.
  std::int64_t rounds_behind() const { return summary_.finished() + (unevaluated_ ? 1 : 0); }
  bool has_run_out() const { return best_.has_run_out(experiment_.configuration().train.patience); }
  RoundResult run_round(std::int64_t round, const std::atomic<bool>& stop);
  /// Evaluates the model after the round where that is due, and writes the round down. When a
  /// stop comes first the round waits for its figures until the run goes on.
  void finish_round(RoundResult result, const std::atomic<bool>& stop);
  // Clients share nothing: the global model stays the initial one.
  bool alone() const { return experiment_.configuration().method.line == Line::local; }
  bool evaluates(std::int64_t round) const;
  /// A checkpoint of the rounds behind, unless there is one.
  void save();
  /// What a round that failed leaves is the state before it: of that, where it can be written.
  void save_after_fault();
  void record(const RoundResult& result);
  // Once a set; the summary names the rounds.
  void warn_of_loss(std::int64_t round, const std::optional<Evaluation>& evaluation,
                    const char* set);
  const char* evaluated() const;
  void finish();
  /// Model, best model, and confusion.csv where it is of the model.
  void write_results();
  /// Of a model after a round.
  std::map<std::string, std::string> metadata(std::int64_t round) const;
  std::string best_text() const;
  std::string early_text() const;
  // After a fault, which may be a full disk: what can be saved of the run, in one line.
  std::string rescue(const std::string& fault);
  [[noreturn]] void interrupted(std::int64_t rounds);
  std::string where_the_model_is() const;
  void print(const std::string& line);
  void note(const std::string& text);
  void warn(const std::string& warning);

  Experiment& experiment_;
  RunFolder& folder_;
  CheckpointFolder& checkpoints_;
  Console& console_;
  RunSummary summary_;
  BestRound best_;
  std::map<std::string, std::string> inputs_;
  std::string processor_;                   // this machine's
  std::vector<NamedArray> best_model_;      // of the best round; empty: there is none
  std::int64_t saved_round_ = 0;            // of the newest checkpoint
  bool saved_unevaluated_ = false;          // that round, there
  std::optional<RoundResult> unevaluated_;  // trained, and stopped before its figures were there
  std::vector<std::string> resume_notes_;
  std::set<std::string> warned_of_loss_;  // on which sets
  std::optional<Evaluation> last_test_;   // of the last round, where it was measured
  std::int64_t model_round_ = 0;          // that the federation's model has behind it
  double learning_rate_ = 0;              // of the last round
  bool results_shown_ = true;             // so far
};

}  // namespace fedvg
