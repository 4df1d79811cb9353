#pragma once

#include <cstdint>
#include <string>

#include "fedvg/options.h"

namespace fedvg {

inline constexpr std::int64_t megabyte = 1 << 20;  ///< that options of memory count in

/// [train], without the choice of participants (data/cohorts.h).
struct TrainOptions {
  std::int64_t rounds = 50;
  std::int64_t epochs = 5;
  std::int64_t steps = 0;
  std::int64_t batch_size = 32;
  bool shuffle = true;
  double clip = 0;
  std::string class_weights = "none";
  Part optimizer{"sgd", {}};
  std::string optimizer_state = "reset";
  Part schedule{"constant", {}};
  std::string buffers = "global";
  std::int64_t min_participants = 1;
  double stragglers = 0;
  double drop_out = 0;
  std::int64_t patience = 0;

  template <class Visitor>
  static void describe(Visitor& visit) {
    visit("rounds", &TrainOptions::rounds, at_least(1), "communication rounds");
    visit("epochs", &TrainOptions::epochs, at_least(1), "passes of a participant over its data");
    visit("steps", &TrainOptions::steps, at_least(0),
          "local steps of a participant instead of epochs, batches repeating in order; 0: epochs");
    visit("batch_size", &TrainOptions::batch_size, at_least(1), "samples of a local step");
    visit("shuffle", &TrainOptions::shuffle, "draw a new order of the samples each epoch");
    visit("clip", &TrainOptions::clip, at_least(0),
          "largest l2 norm of a local gradient, after the correction; 0: not clipped");
    visit("class_weights", &TrainOptions::class_weights, OneOf{{"none", "balanced"}},
          "balanced: in local training's loss a class weighs n / (classes x its samples) over the "
          "labels of all clients; scoring on D_val and evaluation stay without weights");
    visit("optimizer", &TrainOptions::optimizer, PartOf{"local-optimizer"},
          "optimizer of local training");
    visit("optimizer_state", &TrainOptions::optimizer_state, OneOf{{"reset", "keep"}},
          "start the optimizer anew each round, or keep its state with the client");
    visit("schedule", &TrainOptions::schedule, PartOf{"schedule"},
          "learning rate of local training by round");
    visit("buffers", &TrainOptions::buffers, OneOf{{"global", "local", "reset"}},
          "running statistics of BatchNorm: averaged like the model; kept by each client; or "
          "started anew by each participant (the last two: the global model's are those of D_val)");
    visit("min_participants", &TrainOptions::min_participants, at_least(1),
          "a round with fewer accepted updates is void");
    visit("stragglers", &TrainOptions::stragglers, between(0, 1),
          "share of a round's participants that do fewer epochs (or steps): 1 to one less, drawn");
    visit("drop_out", &TrainOptions::drop_out, between(0, 1),
          "share of a round's participants that never answer");
    visit("patience", &TrainOptions::patience, at_least(0),
          "stop after so many evaluations in a row in which checkpoint.best was not bettered; 0: "
          "never");
  }
};

/// [scoring]: how D_val's gradient is taken at a client's model (spec: scoring).
struct ScoringOptions {
  std::string mode = "train";
  std::int64_t batch_size = 32;
  double budget = 0;

  template <class Visitor>
  static void describe(Visitor& visit) {
    visit("mode", &ScoringOptions::mode, OneOf{{"train", "eval"}},
          "BatchNorm of the scoring pass: each batch's statistics (train) or running ones (eval)");
    visit("batch_size", &ScoringOptions::batch_size, at_least(1),
          "validation images of one scoring batch; a last batch of one joins the one before");
    visit("budget", &ScoringOptions::budget, at_least(0),
          "score on a part of D_val: the 95 % interval of each weight may reach so far, as a share "
          "of the weight; 0: on all of D_val");
  }
};

/// [evaluate]
struct EvaluateOptions {
  std::int64_t every = 1;
  bool clients = false;

  template <class Visitor>
  static void describe(Visitor& visit) {
    visit("every", &EvaluateOptions::every, at_least(1),
          "evaluate the global model each so many rounds, and after the last");
    visit("clients", &EvaluateOptions::clients,
          "evaluate on the clients' own data, too: the model on every client's, and each "
          "participant's before and after its training");
  }
};

/// [engine]: how the work is spread; precision, kernels and threads change results.
struct EngineOptions {
  std::int64_t workers = 0;
  std::int64_t threads = 1;
  std::int64_t window = 4;
  std::string precision = "float32";
  std::string kernels = "auto";
  bool live_taps = true;
  std::int64_t state_memory = 1024;
  std::int64_t memory = 0;

  template <class Visitor>
  static void describe(Visitor& visit) {
    visit("workers", &EngineOptions::workers, between(0, 4096),
          "that train clients, each with a model of its own; 0: cores of the process / threads");
    visit(
        "threads", &EngineOptions::threads, between(1, 4096),
        "of each worker, one a core; above 1 for rounds of fewer clients than cores, or models of "
        "which few fit into memory. Layers are then libtorch's, and results differ by rounding");
    visit("window", &EngineOptions::window, at_least(1),
          "finished updates that may wait for their turn in the sum");
    visit("precision", &EngineOptions::precision, OneOf{{"float32", "float64", "bf16"}},
          "of parameters, training and scoring; sums over clients are always float64. bf16: "
          "products in bfloat16, all else, evaluation too, in float32");
    visit("kernels", &EngineOptions::kernels, OneOf{{"auto", "avx512", "avx2", "aten"}},
          "loops of float32 layers on a CPU where they beat libtorch's: those of this processor's "
          "best instruction set, of the one named, or none (aten); results differ by rounding");
    visit("live_taps", &EngineOptions::live_taps,
          "leave taps of kernels that meet no pixel on such small images out of training and sums; "
          "models, files and bytes sent stay whole, results differ by rounding");
    visit("state_memory", &EngineOptions::state_memory, at_least(0),
          "MB of clients' states (scaffold, feddyn, moon, ...) kept in memory; more wait on disk");
    visit("memory", &EngineOptions::memory, at_least(0),
          "MB that a combiner which keeps all updates may take; 0: half of the machine's");
  }
};

}  // namespace fedvg
