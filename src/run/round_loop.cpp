#include "run/round_loop.h"

#include <cmath>
#include <utility>

#include "engine/stopwatch.h"
#include "fedvg/error.h"
#include "fedvg/version.h"
#include "run/checkpoints/resume.h"
#include "run/csv.h"
#include "run/environment.h"
#include "run/peak_memory.h"
#include "run/round_lines.h"
#include "run/run_end.h"
#include "run/setup_block.h"
#include "run/whole_file.h"

namespace fedvg {

RoundLoop::RoundLoop(Experiment& experiment, std::map<std::string, std::string> inputs,
                     RunFolder& folder, CheckpointFolder& checkpoints, Console& console)
    : experiment_(experiment),
      folder_(folder),
      checkpoints_(checkpoints),
      console_(console),
      best_(experiment.configuration().checkpoint.best),
      inputs_(std::move(inputs)),
      processor_(processor_name()) {}

void RoundLoop::begin(const std::string& change) {
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

void RoundLoop::resume(const Checkpoint& checkpoint, RunProgress progress) {
  saved_round_ = checkpoint.round;
  saved_unevaluated_ = progress.unevaluated.has_value();
  const auto notes = differences(progress, experiment_.federation().info(), processor_);
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

void RoundLoop::warn_of_checkpoint(const std::string& problem) {
  const std::string warning = problem + "; the run goes on from an earlier one, or from the start";
  warn(warning);
  summary_.add_warning(warning);
}

void RoundLoop::train(const std::atomic<bool>& stop) {
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
  } catch (const Interrupted&) {
    throw;
  } catch (const RunError& error) {
    throw RunError(std::string(error.what()) + "\n" + rescue(error.what()));
  } catch (const DamagedState& error) {
    checkpoints_.set_aside(error.version);
    throw DataError(std::string(error.what()) +
                    "; the checkpoints that name it are set aside, and --resume goes on from the "
                    "one before\n" +
                    rescue(error.what()));
  } catch (const std::exception& error) {  // out of memory, say
    console_.say(rescue(error.what()));
    throw;
  }
  if (summary_.all_void()) {
    throw RunError("every round was void: the model is the initial one (" +
                   folder_.path().string() + " has the details)");
  }
  write_whole_file(run_end_file(folder_.path()), text_of(RunEnd{rounds_behind(), has_run_out()}));
}

RoundResult RoundLoop::run_round(std::int64_t round, const std::atomic<bool>& stop) {
  const Stopwatch watch;
  const std::string label = "round " + std::to_string(round);
  RoundResult result;
  try {
    result.record = experiment_.federation().run_round(
        round, experiment_.cohorts().cohort(round), stop, [&](Federation::Progress progress) {
          console_.show_progress(label, progress.done, progress.total);
        });
  } catch (const Interrupted&) {
    throw;
  } catch (const DamagedState&) {
    throw;
  } catch (const std::exception&) {
    save_after_fault();
    throw;
  }
  console_.clear_progress();
  if (!alone()) model_round_ = round;
  result.seconds = watch.seconds();
  return result;
}

void RoundLoop::finish_round(RoundResult result, const std::atomic<bool>& stop) {
  if (evaluates(result.record.round)) {
    const Stopwatch watch;
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
    result.seconds_evaluate = watch.seconds();
    result.seconds += result.seconds_evaluate;
  }
  record(result);
  const std::int64_t every = experiment_.configuration().checkpoint.every;
  if (every > 0 && result.record.round % every == 0) save();
}

bool RoundLoop::evaluates(std::int64_t round) const {
  const Configuration& configuration = experiment_.configuration();
  return round % configuration.evaluate.every == 0 || round == configuration.train.rounds;
}

void RoundLoop::save() {
  if (rounds_behind() == saved_round_ && unevaluated_.has_value() == saved_unevaluated_) return;
  folder_.sync();
  Federation& federation = experiment_.federation();
  const FederationInfo& info = federation.info();
  const bool has_best = best_.is_known() && !alone();
  const Checkpoint checkpoint{.round = rounds_behind(),
                              .best = has_best ? best_.round() : 0,
                              .progress = text_of(RunProgress{.tables = folder_.tables(),
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
                                                              .libtorch = info.libtorch_version,
                                                              .device = info.device,
                                                              .processor = processor_}),
                              .federation = federation.save()};
  checkpoints_.write(
      checkpoint, [&] { return best_model_; }, metadata(best_.round()));
  federation.keep_client_states(checkpoints_.clients());
  saved_round_ = checkpoint.round;
  saved_unevaluated_ = unevaluated_.has_value();
}

void RoundLoop::save_after_fault() {
  try {
    if (rounds_behind() > 0) save();
  } catch (const std::exception& error) {
    folder_.log().warning(std::string("no checkpoint after the fault: ") + error.what());
  }
}

void RoundLoop::record(const RoundResult& result) {
  const Configuration& configuration = experiment_.configuration();
  const RoundRecord& round = result.record;
  const std::int64_t every = configuration.report.layers_every;
  const bool layers = every > 0 && round.round % every == 0;
  folder_.add(result, layers ? experiment_.federation().info().tensors : std::vector<TensorInfo>());
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

void RoundLoop::warn_of_loss(std::int64_t round, const std::optional<Evaluation>& evaluation,
                             const char* set) {
  if (!evaluation) return;
  const std::string warning = loss_warning(*evaluation, evaluated(), set);
  if (warning.empty() || !warned_of_loss_.insert(set).second) return;
  warn("round " + std::to_string(round) + ": " + warning);
}

const char* RoundLoop::evaluated() const {
  return alone() ? "mean over clients' own models" : "global model";
}

void RoundLoop::finish() {
  console_.clear_progress();
  write_results();
  folder_.sync();
  const FederatedData& data = experiment_.data();
  for (const auto& line :
       summary_.lines(evaluated(), std::ssize(data.test), std::ssize(data.validation),
                      data.dataset.training.is_features ? "samples" : "images")) {
    print(line);
  }
  if (!best_model_.empty()) print(topic_line("best model", best_text()));
  if (has_run_out()) print(topic_line("stopped", early_text()));
  print(topic_line("memory", std::to_string(std::llround(peak_megabytes())) + " MB at its peak"));
  print(topic_line("model", folder_.model_path().string()));
}

void RoundLoop::write_results() {
  folder_.write_model(experiment_.federation().model(), metadata(model_round_));
  if (!best_model_.empty()) folder_.write_best_model(best_model_, metadata(best_.round()));
  const bool is_of_the_model = last_test_ && !unevaluated_;
  folder_.write_confusion(is_of_the_model ? last_test_->confusion : Confusion());
}

std::map<std::string, std::string> RoundLoop::metadata(std::int64_t round) const {
  const Configuration& configuration = experiment_.configuration();
  return {{"format", "pt"},
          {"fedvg", FEDVG_VERSION},
          {"model", configuration.model.name},
          {"method", configuration.method.name},
          {"round", std::to_string(round)}};
}

std::string RoundLoop::best_text() const {
  return best_.metric() + " " + shortest(best_.value()) + ", after round " +
         std::to_string(best_.round()) + ": " + (folder_.path() / "best.safetensors").string();
}

std::string RoundLoop::early_text() const {
  const std::string what = best_.is_known()
                               ? best_.metric() + " " + shortest(best_.value()) + " of round " +
                                     std::to_string(best_.round()) + " was not bettered"
                               : best_.metric() + " was never a finite number";
  return "early, after round " + std::to_string(rounds_behind()) + ": " + what + " in " +
         std::to_string(best_.not_bettered()) + " evaluations (train.patience)";
}

std::string RoundLoop::rescue(const std::string& fault) {
  console_.clear_progress();
  try {
    folder_.log().error(fault);
    write_results();
    return where_the_model_is();
  } catch (const RunError& error) {
    return error.what();
  }
}

void RoundLoop::interrupted(std::int64_t rounds) {
  const std::string message = "interrupted after " + std::to_string(rounds_behind()) + " of " +
                              std::to_string(rounds) + " rounds" +
                              (unevaluated_ ? ", the last not evaluated yet" : "") + "; " +
                              where_the_model_is() + "; go on with the same command and --resume";
  folder_.log().warning(message);
  throw Interrupted(message);
}

std::string RoundLoop::where_the_model_is() const {
  const std::string which = model_round_ == 0
                                ? "the initial model"
                                : "the model after round " + std::to_string(model_round_);
  return which + " is in " + folder_.model_path().string();
}

void RoundLoop::print(const std::string& line) {
  const bool shown = console_.print(line);
  folder_.log().info(line);
  if (shown || !results_shown_) return;
  results_shown_ = false;
  const std::string warning = "standard output is closed or full: the run goes on, and " +
                              (folder_.path() / "log.txt").string() + " has what it prints";
  warn(warning);
  summary_.add_warning(warning);
}

void RoundLoop::note(const std::string& text) {
  console_.say("note: " + text);
  folder_.log().info("note: " + text);
  summary_.add_note(text);
}

void RoundLoop::warn(const std::string& warning) {
  console_.warn(warning);
  folder_.log().warning(warning);
}

}  // namespace fedvg
