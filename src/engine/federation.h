#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "data/augmentation.h"
#include "data/federated_data.h"
#include "engine/client_figures.h"
#include "engine/client_version.h"
#include "engine/engine_options.h"
#include "engine/metrics.h"
#include "fedvg/method.h"
#include "fedvg/options.h"
#include "models/safetensors.h"

// The engine as the rooms above it see it: no tensor type in sight, so that the run
// folder and the command line do not compile against libtorch.

namespace fedvg {

struct FederationSetup {
  std::uint64_t seed = 1;
  Part model;  ///< of kind "model"
  /// safetensors file that the initial model is, instead of being drawn; a classifier of
  /// another number of classes stays as drawn. Empty: none.
  std::string initial_model;
  Method method;
  TrainOptions train;
  ScoringOptions scoring;
  EvaluateOptions evaluate = {};  ///< when clients are measured in training
  EngineOptions engine;
  std::string device = "cpu";   ///< "cpu" or "cuda:N"
  Part normalize{"none", {}};   ///< of kind "normalization"
  Augmentation augmentation{};  ///< in local training
  /// Times this goes the update of each client that FederatedData::corrupted names, as if it
  /// were what the client had learned: it is scored, checked and summed so.
  double corrupted_update_factor = 1;
  std::int64_t largest_cohort = 0;  ///< more workers than this are not started; 0: unknown
  std::string state_folder;  ///< for clients' states beyond engine.state_memory; "": temporary
  /// Called by a worker before it trains `client`: tests delay or fail it.
  std::function<void(std::int64_t client)> before_training;
};

/// Which samples of FederatedData a model is evaluated on; training: all clients'.
enum class DataPart { training, validation, test };

/// What became of one participant of a round.
struct ClientRecord {
  std::int64_t client = 0;
  std::int64_t samples = 0;     ///< samples it trained on
  std::int64_t steps = 0;       ///< optimizer steps
  double weight = 0;            ///< final share in the step; mean over columns
  std::optional<double> score;  ///< u of the (first) scored rule, mean over columns
  std::optional<double> norm;   ///< mean norm of D_val's gradient over tensors
  double loss_first = 0;        ///< mean training loss of the first local epoch; NaN: no step
  double loss_last = 0;         ///< … and of the last
  std::string status;           ///< "ok", "no-steps", "not-finite", "dead", "dropped"
  double seconds_train = 0;
  double seconds_score = 0;
  std::optional<bool> corrupted;       ///< absent: FederatedData::corrupted is empty
  std::vector<double> tensor_norms;    ///< [T] where the rule measured them, else empty
  std::vector<double> tensor_weights;  ///< [T] share of this client in each tensor
  /// On its own samples: of the model that it got (method local: of its own last one), and of its
  /// own after training.
  std::optional<double> accuracy_before = {}, accuracy_after = {};
};

/// One finished round. Optional figures were not measured.
struct RoundRecord {
  std::int64_t round = 0;   ///< from 1
  bool is_void = false;     ///< no step was taken: model and states as before
  std::string void_reason;  ///< "no update was accepted", "total weight 0", …
  std::int64_t participants = 0;
  std::int64_t rejected = 0;                     ///< not-finite or dead
  std::optional<double> weight_min, weight_max;  ///< over accepted participants
  std::optional<double> weight_entropy;          ///< -sum w ln w / ln K; absent for fewer than 2
  std::optional<std::int64_t> scored;  ///< images of D_val; absent: the rule scores on none
  std::int64_t bytes_down = 0, bytes_up = 0;
  double learning_rate = 0;                     ///< of local training in this round
  double seconds = 0;                           ///< wall time of training, scoring and combining
  double seconds_train = 0, seconds_score = 0;  ///< worker time / workers
  double seconds_combine = 0;                   ///< worker time / workers + server step
  std::vector<ClientRecord> clients;            ///< in the order of the cohort as drawn
};

struct TensorInfo {
  std::string name, block;
  std::vector<std::int64_t> shape;
};

/// Facts for the set-up block, environment.json and `fedvg check`.
struct FederationInfo {
  std::int64_t parameters = 0;      ///< trainable numbers
  std::int64_t live = 0;            ///< … that training and sums hold; fewer under live_taps
  std::vector<TensorInfo> tensors;  ///< trainable, in model order
  std::int64_t live_bytes = 0;      ///< of those numbers
  std::int64_t buffer_bytes = 0;    ///< of the model's buffers
  std::int64_t workers = 0;         ///< really used
  std::int64_t threads = 1;         ///< of each worker
  std::string precision;            ///< "float32", "float64" or "bf16"
  std::int64_t score_parts = 1;     ///< sums that the weighting keeps
  bool keeps_updates = false;       ///< the combiner holds a round's updates, nothing streams
  std::int64_t state_bytes = 0;     ///< what a client keeps once it has taken part, about
  std::string memory_format;        ///< "channels_last" or "contiguous"
  std::string kernels;              ///< "avx512", "avx2" or "aten"
  std::string libtorch_version;
  std::string device;
  std::vector<std::string> notes;  ///< said at start: capped workers, repeated channels, …
};

/// What a federation must keep to go on later as if it had never stopped: the global model, the
/// states of server, correction and validation budget, and which states of clients are current.
/// Random streams are none of it: each is drawn anew from seed, purpose, round and client.
struct FederationState {
  std::vector<NamedArray> arrays;  ///< by names of the engine's own
  /// Their files lie in FederationSetup::state_folder.
  std::vector<ClientVersion> clients;
};

/// A federation simulated in this process: N clients, one server.
///
/// A round trains the cohort in pinned workers, scores each client's model right after
/// its training where the rule wants it, sums in double in the order of work (most samples
/// first, ties by id), and takes one server step. Results do not depend on the number of
/// workers or on who finishes first.
class Federation {
 public:
  /// Throws OptionError (parts that cannot go together, a rule that needs D_val without
  /// one), DataError (data that does not fit the model) or RunError (device).
  /// `data` must outlive the federation.
  Federation(const FederatedData& data, FederationSetup setup);
  ~Federation();

  const FederationInfo& info() const;

  struct Progress {
    std::int64_t done, total;  ///< participants of this round
  };

  /// One round with these participants (non-empty clients, no repeats). Throws
  /// Interrupted as soon as `stop` is seen true, RunError on a fault of a worker; in both
  /// cases model and states are those of the round before.
  RoundRecord run_round(std::int64_t round, const std::vector<std::int64_t>& cohort,
                        const std::atomic<bool>& stop,
                        const std::function<void(Progress)>& progress = {});

  /// Of the global model, in evaluation mode; leaves it untouched. Throws Interrupted as
  /// soon as `stop` is seen true.
  Evaluation evaluate_test(const std::atomic<bool>& stop = kNeverStop);
  /// Absent without D_val.
  std::optional<Evaluation> evaluate_validation(const std::atomic<bool>& stop = kNeverStop);

  /// Of the global model on each client's samples; method local: of each client's own model, the
  /// global one where it has none yet.
  ClientFigures evaluate_clients(const std::atomic<bool>& stop = kNeverStop);

  /// Of the global model under every method, with what it says about each sample, in the
  /// order of part_samples(). Absent for a part without samples.
  std::optional<Evaluation> evaluate(DataPart part, Predictions& predictions,
                                     const std::atomic<bool>& stop = kNeverStop);
  /// Positions in the data set's part (FederatedData); of the training part each once, rising.
  const std::vector<std::int64_t>& part_samples(DataPart part) const;

  /// The global model: parameters, then buffers, in model order.
  std::vector<NamedArray> model() const;
  /// Replaces the global model. Throws DataError naming every tensor that does not fit;
  /// the model is then as it was (engine/model_file.h).
  void load_model(const std::vector<NamedArray>& arrays);

  /// Between two rounds. Clients' states are put onto the disk. Throws RunError when it does not
  /// take them.
  FederationState save();
  /// In place of the state of the start, of a federation with the same setup. Throws DataError
  /// when something of it is missing or does not fit; it can be tried with another then.
  void restore(const FederationState& state);
  /// Files of clients' states that stay on the disk until a later call does not name them.
  void keep_client_states(const std::vector<ClientVersion>& named);
  /// Before a first round: removes files of states that another process left and nothing names.
  void forget_client_states();

 private:
  static inline const std::atomic<bool> kNeverStop = false;
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace fedvg
