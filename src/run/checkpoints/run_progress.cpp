#include "run/checkpoints/run_progress.h"

#include "fedvg/error.h"
#include "run/checkpoints/json_form.h"

// The members of each struct, for both directions.

namespace fedvg {

template <class Visit>
void fields(const Visit& visit, FileBegin& x) {
  visit("size", x.size);
  visit("hash", x.hash);
}

template <class Visit>
void fields(const Visit& visit, TableContents& x) {
  visit("rounds", x.rounds);
  visit("clients", x.clients);
  visit("layers", x.layers);
  visit("classes", x.classes);
}

template <class Visit>
void fields(const Visit& visit, Evaluation& x) {
  visit("accuracy", x.accuracy);
  visit("loss", x.loss);
  visit("balanced_accuracy", x.balanced_accuracy);
  visit("macro_f1", x.macro_f1);
  visit("macro_auroc", x.macro_auroc);
  visit("confusion", x.confusion);
}

template <class Visit>
void fields(const Visit& visit, ClientFigures& x) {
  visit("clients", x.clients);
  visit("mean", x.mean);
  visit("weighted", x.weighted);
  visit("worst", x.worst);
  visit("deviation", x.deviation);
  visit("own_models", x.own_models);
}

template <class Visit>
void fields(const Visit& visit, ClientRecord& x) {
  visit("client", x.client);
  visit("samples", x.samples);
  visit("steps", x.steps);
  visit("weight", x.weight);
  visit("score", x.score);
  visit("norm", x.norm);
  visit("loss_first", x.loss_first);
  visit("loss_last", x.loss_last);
  visit("status", x.status);
  visit("seconds_train", x.seconds_train);
  visit("seconds_score", x.seconds_score);
  visit("corrupted", x.corrupted);
  visit("tensor_norms", x.tensor_norms);
  visit("tensor_weights", x.tensor_weights);
  visit("accuracy_before", x.accuracy_before);
  visit("accuracy_after", x.accuracy_after);
}

template <class Visit>
void fields(const Visit& visit, RoundRecord& x) {
  visit("round", x.round);
  visit("is_void", x.is_void);
  visit("void_reason", x.void_reason);
  visit("participants", x.participants);
  visit("rejected", x.rejected);
  visit("weight_min", x.weight_min);
  visit("weight_max", x.weight_max);
  visit("weight_entropy", x.weight_entropy);
  visit("scored", x.scored);
  visit("bytes_down", x.bytes_down);
  visit("bytes_up", x.bytes_up);
  visit("learning_rate", x.learning_rate);
  visit("seconds", x.seconds);
  visit("seconds_train", x.seconds_train);
  visit("seconds_score", x.seconds_score);
  visit("seconds_combine", x.seconds_combine);
  visit("clients", x.clients);
}

template <class Visit>
void fields(const Visit& visit, RoundResult& x) {
  visit("record", x.record);
  visit("test", x.test);
  visit("validation", x.validation);
  visit("clients", x.clients);
  visit("seconds", x.seconds);
  visit("seconds_evaluate", x.seconds_evaluate);
}

template <class Visit>
void fields(const Visit& visit, RunSummary::Measured& x) {
  visit("round", x.round);
  visit("evaluation", x.evaluation);
}

template <class Visit>
void fields(const Visit& visit, RunSummary::State& x) {
  visit("finished", x.finished);
  visit("seconds", x.seconds);
  visit("last", x.last);
  visit("best", x.best);
  visit("last_validation", x.last_validation);
  visit("last_clients", x.last_clients);
  visit("participants", x.participants);
  visit("dropped", x.dropped);
  visit("not_finite", x.not_finite);
  visit("void_rounds", x.void_rounds);
  visit("left_out", x.left_out);
}

template <class Visit>
void fields(const Visit& visit, BestRound::State& x) {
  visit("round", x.round);
  visit("value", x.value);
  visit("not_bettered", x.not_bettered);
}

template <class Visit>
void fields(const Visit& visit, RunProgress& x) {
  visit("tables", x.tables);
  visit("unevaluated", x.unevaluated);
  visit("summary", x.summary);
  visit("best", x.best);
  visit("last_test", x.last_test);
  visit("model_round", x.model_round);
  visit("learning_rate", x.learning_rate);
  visit("warned_of_loss", x.warned_of_loss);
  visit("inputs", x.inputs);
  visit("kernels", x.kernels);
  visit("memory_format", x.memory_format);
  visit("libtorch", x.libtorch);
  visit("device", x.device);
  visit("processor", x.processor);
}

std::string text_of(const RunProgress& progress) { return json_form::to(progress).dump(); }

RunProgress progress_from(const std::string& text) {
  RunProgress progress;
  try {
    json_form::from(nlohmann::json::parse(text), progress);
  } catch (const nlohmann::json::exception& error) {
    throw DataError(std::string("not a run's progress: ") + error.what());
  }
  return progress;
}

}  // namespace fedvg
