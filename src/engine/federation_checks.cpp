#include "engine/federation_checks.h"

#include <algorithm>

#include "data/class_counts.h"
#include "data/wording.h"
#include "engine/client_faults.h"
#include "engine/round_driver.h"
#include "fedvg/error.h"
#include "fedvg/registry.h"
#include "models/model_memory.h"

namespace fedvg {
namespace {

void check_labels_of(const Samples& samples, std::int64_t classes, const char* part) {
  for (std::size_t i = 0; i < samples.labels.size(); ++i) {
    if (samples.labels[i] >= 0 && samples.labels[i] < classes) continue;
    throw DataError(std::string(part) + " label " + std::to_string(samples.labels[i]) +
                    " at position " + std::to_string(i) + " does not fit a model of " +
                    std::to_string(classes) + " outputs");
  }
}

/// A combiner that takes no weights goes with rules that give none.
void check_combiner(const FederationSetup& setup, const DriverSetup& driver) {
  const Method& method = setup.method;
  if (driver.combiner->takes_weights()) return;
  if (method.weighting.name != "size" && method.weighting.name != "uniform") {
    throw OptionError("method.combiner " + method.combiner.name +
                      " counts all updates alike, so "
                      "weighting " +
                      method.weighting.name +
                      " would be ignored; take combiner "
                      "mean, or weighting uniform");
  }
  if (driver.correction->needs_weights()) {
    throw OptionError("method.combiner " + method.combiner.name +
                      " takes no weights, which "
                      "correction " +
                      method.correction.name + " needs; take combiner mean");
  }
  if (setup.largest_cohort == 0) return;
  driver.combiner->check(setup.largest_cohort -
                         nearest_share(setup.train.drop_out, setup.largest_cohort));
}

/// A rule must be able to say how far a part of D_val is from all of it.
void check_budget(const FederationSetup& setup, const DriverSetup& driver) {
  if (setup.scoring.budget == 0 || driver.weighting->measures_spread()) return;
  const std::string rule = "weighting " + setup.method.weighting.name;
  throw OptionError(
      "scoring.budget is for scores by the norm of D_val's gradient on a part of it, and " + rule +
      (driver.weighting->needs_validation()
           ? " scores otherwise: by the accuracy, or by a norm whose noise is not known (spectral)"
           : " does not score on D_val") +
      "; set scoring.budget = 0, or take weighting fedvg with norm l1, l2 or linf");
}

void check_validation(const FederationSetup& setup, const DriverSetup& driver) {
  if (setup.train.buffers != "global") {
    throw OptionError("train.buffers = \"" + setup.train.buffers +
                      "\" takes the global model's "
                      "running statistics from D_val, and there is none; set validation.source "
                      "= \"holdout\"");
  }
  if (driver.weighting->needs_validation()) {
    throw OptionError("method " + setup.method.name +
                      " weighs clients on the server's "
                      "validation set D_val, and there is none; set validation.source = "
                      "\"holdout\" (a part of the training set) or take method.name = \"fedavg\"");
  }
}

/// For people; empty: there are none.
std::string constant_features_note(const ChannelStatistics& statistics) {
  if (statistics.constant.empty()) return "";
  std::vector<std::string> constant;
  for (const auto feature : statistics.constant) constant.push_back(std::to_string(feature));
  return std::to_string(constant.size()) + " of " + std::to_string(statistics.mean.size()) +
         " features have one value in the whole training set (" + some_of(constant) +
         ", counted from 0): they are centred, not scaled";
}

/// What the means over classes leave out, for people; empty: nothing.
std::string absent_classes_note(const std::string& set, const std::vector<std::int64_t>& counts,
                                const std::vector<std::string>& names) {
  std::vector<std::string> absent;
  for (std::size_t c = 0; c < counts.size(); ++c) {
    if (counts[c] == 0) absent.push_back(names[c]);
  }
  if (absent.empty()) return "";
  return set + " has no sample of " + std::to_string(absent.size()) + " of " +
         std::to_string(counts.size()) + " classes (" + some_of(absent) +
         "): balanced accuracy, macro F1 and macro AUROC are means over the others";
}

}  // namespace

void check_labels(const FederatedData& data) {
  const auto classes = static_cast<std::int64_t>(data.dataset.classes.size());
  check_labels_of(data.dataset.training, classes, "training");
  check_labels_of(data.dataset.test, classes, "test");
  if (data.validation_set) check_labels_of(*data.validation_set, classes, "validation");
}

void check_parts(const FederationSetup& setup, const DriverSetup& driver, bool has_validation) {
  check_combiner(setup, driver);
  check_budget(setup, driver);
  if (!has_validation) check_validation(setup, driver);
}

void check_batch_size(const Model& model, const FederationSetup& setup) {
  if (setup.train.batch_size > 1 || !model.has_batch_norm()) return;
  std::string other = "a network without BatchNorm";
  const PartInfo* info = Catalog::instance().find(ModelBuilder::kind, setup.model.name);
  for (const Field& field : info ? info->schema : Schema{}) {
    for (const auto& choice : field.choices) {
      if (field.name == "norm" && choice != "batch") other = "model.norm = \"" + choice + "\"";
    }
  }
  throw OptionError("train.batch_size: one sample has no batch statistics, which model " +
                    setup.model.name +
                    " normalises by (BatchNorm), so that nothing would be trained; set it to at "
                    "least 2, or take " +
                    other);
}

void check_draws(const Model& model, const FederationSetup& setup, FederationInfo& info) {
  if (!model.draws_from_torch() || info.workers == 1) return;
  const std::string why =
      "model " + setup.model.name +
      " draws from libtorch's one random generator (dropout), so that results of several workers "
      "would depend on which of them comes first";
  if (setup.engine.workers > 1) {
    throw OptionError("engine.workers: " + why + "; set engine.workers = 1");
  }
  info.workers = 1;
  info.notes.push_back("workers: 1, as " + why);
}

void check_kept_updates(const FederationSetup& setup, const Combiner& combiner,
                        std::int64_t model_bytes) {
  if (combiner.takes_weights() || setup.largest_cohort == 0) return;
  const std::int64_t needed = combiner.models_held(setup.largest_cohort, 1) * model_bytes;
  const auto half = static_cast<std::int64_t>(machine_memory() / 2);
  const std::int64_t allowed = setup.engine.memory > 0 ? setup.engine.memory * megabyte : half;
  if (needed <= allowed) return;
  throw OptionError("method.combiner " + setup.method.combiner.name + " keeps the updates of all " +
                    std::to_string(setup.largest_cohort) + " participants, " +
                    std::to_string(needed / megabyte) + " MB, and engine.memory allows " +
                    std::to_string(allowed / megabyte) + " MB");
}

void note_data(const FederatedData& data, const ChannelStatistics& statistics,
               FederationInfo& info) {
  const auto note = [&](std::string text) {
    if (!text.empty()) info.notes.push_back(std::move(text));
  };
  note(constant_features_note(statistics));
  if (data.test.empty()) return;
  const auto& names = data.dataset.classes;
  note(absent_classes_note(
      "the test set", class_counts(data.test, data.test_samples().labels, names.size()), names));
}

void note_line(Line line, FederationInfo& info) {
  if (line == Line::centralized) {
    info.notes.push_back(
        "centralized: the samples of all clients are trained on as one, in "
        "every round; who takes part does not apply");
  } else if (line == Line::local) {
    info.notes.push_back(
        "local: clients share nothing; accuracies and losses are means over "
        "clients' own models, model.safetensors is the initial one");
  }
}

void note_idle_options(const FederationSetup& setup, const Model& model, bool keeps_updates,
                       FederationInfo& info) {
  const auto idle = [&](const std::string& option, const Value& value, const std::string& why) {
    info.notes.push_back(option + " = " + value.text() + " has no effect: " + why);
  };
  if (!model.has_batch_norm()) {
    const std::string why = "model " + setup.model.name + " has no BatchNorm";
    if (setup.train.buffers != "global") idle("train.buffers", setup.train.buffers, why);
    if (setup.scoring.mode != "train") idle("scoring.mode", setup.scoring.mode, why);
  }
  if (setup.engine.memory != 0 && !keeps_updates) {
    idle("engine.memory", setup.engine.memory,
         "method.combiner " + setup.method.combiner.name + " keeps no updates");
  }
  if (setup.engine.state_memory != EngineOptions{}.state_memory && info.state_bytes == 0) {
    idle("engine.state_memory", setup.engine.state_memory, "clients keep no state");
  }
}

}  // namespace fedvg
