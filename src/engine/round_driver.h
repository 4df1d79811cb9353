#pragma once

#include <functional>
#include <map>
#include <memory>
#include <vector>

#include "engine/client_faults.h"
#include "engine/client_state.h"
#include "engine/federation.h"
#include "engine/live_taps.h"
#include "engine/samples.h"
#include "engine/turn_queue.h"
#include "engine/validation_budget.h"
#include "engine/worker.h"
#include "engine/worker_pool.h"
#include "fedvg/combiner.h"
#include "fedvg/correction.h"
#include "fedvg/server_optimizer.h"
#include "fedvg/weighting.h"

namespace fedvg {

/// Everything a federation is made of, as tensors and parts.
struct DriverSetup {
  std::function<std::unique_ptr<Model>()> build_model;  ///< called once a worker
  /// Images, to whose live taps the models of workers are cropped (DeadTaps), where the parts go
  /// along: against_live_taps(). Absent: models are whole.
  std::optional<ModelInput> live_taps = {};
  std::function<std::unique_ptr<LocalOptimizer>()> build_optimizer;
  std::unique_ptr<Correction> correction;
  std::unique_ptr<WeightingRule> weighting;
  std::unique_ptr<ServerOptimizer> server;
  std::unique_ptr<Combiner> combiner;
  std::function<double(std::int64_t round)> learning_rate_factor;  ///< empty: 1
  std::vector<LocalData> clients;      ///< by client index; N = clients.size()
  std::vector<bool> corrupted;         ///< by client index; empty: nobody is
  double corrupted_update_factor = 1;  ///< Worker::exaggerate, for those
  Worker::Validation validation;
  double scoring_budget = 0;  ///< ValidationBudget, where it applies to the plan; 0: off
  LocalRules rules;
  ClientFaults faults = {};
  std::int64_t min_participants = 1;  ///< a round with fewer accepted updates is void
  /// In which rounds ClientRecord's accuracies are measured; empty: in none.
  std::function<bool(std::int64_t round)> measures_clients = {};
  bool own_models = false;  ///< method local: the correction `alone`
  std::size_t workers = 1, threads = 1, window = 4;
  const kernels::KernelTable* kernels = nullptr;  ///< of the workers; null: libtorch's operators
  ImageFormat format;
  std::int64_t state_memory = std::int64_t{1} << 30;  ///< bytes; ClientStateStore
  std::filesystem::path state_folder;
  std::function<void(std::int64_t client)> before_training;
};

/// One federation: the global model, the three parts of the method, and the workers. The
/// round is described at Federation, which is this behind a header without tensors.
class RoundDriver {
 public:
  /// Draws the initial model from the seed's stream.
  explicit RoundDriver(DriverSetup setup);

  RoundRecord run_round(std::int64_t round, const std::vector<std::int64_t>& cohort,
                        const std::atomic<bool>& stop,
                        const std::function<void(Federation::Progress)>& progress = {});

  // Evaluations: driver_evaluation.cpp.

  /// Of the global model, spread over the workers; the sums are in the order of the samples,
  /// of which there is at least one. `predictions`, where wanted, receives what it says about
  /// each. Throws Interrupted once `stop` is true.
  Evaluation evaluate(const SampleStore& store, std::span<const std::int64_t> ids,
                      const std::atomic<bool>& stop, Predictions* predictions = nullptr);

  /// The mean over non-empty clients of their own models' figures: the state "w" of the
  /// correction `alone`, or the global model for a client that has none yet.
  Evaluation evaluate_own_models(const SampleStore& store, std::span<const std::int64_t> ids,
                                 const std::atomic<bool>& stop);

  /// On each client's own samples: of the global model, or of the clients' own models, as
  /// above, under DriverSetup::own_models. Each sample is looked at once a client.
  ClientFigures evaluate_clients(const SampleStore& store,
                                 std::span<const std::vector<std::int64_t>> clients,
                                 const std::atomic<bool>& stop);

  /// Of the vectors of workers and sums, cropped to live taps.
  const Layout& layout() const { return layout_; }
  const at::Tensor& global() const { return global_; }
  /// Of the model as the world knows it; layout() where nothing is cropped.
  const Layout& model_layout() const { return dead_ ? dead_->whole() : layout_; }
  /// The global model in model_layout().
  at::Tensor model() const { return dead_ ? dead_->restore(global_) : global_; }
  const Tensors& buffers() const { return buffers_; }
  const std::vector<NamedTensor>& buffer_names() const { return workers_[0]->model().buffers(); }
  /// Replaces the global model; w is in model_layout().
  void set_global(const at::Tensor& w, const Tensors& buffers);
  /// As Federation has them (driver_state.cpp).
  FederationState save();
  void restore(const FederationState& state);
  void keep_client_states(const std::vector<ClientVersion>& named) { states_->keep(named); }
  void forget_client_states() { states_->restore({}); }
  /// Null: every round is scored on all of D_val.
  ValidationBudget* budget() { return budget_.get(); }

 private:
  struct Finished;
  struct Accepted;

  void crop_models(Model& model, const LocalOptimizer& optimizer);
  void draw_initial_model(const std::function<std::unique_ptr<Model>()>& build_whole);
  /// Neither clients nor server keep a vector.
  bool remembers_nothing() const;
  /// Of vectors on their way, in whole size.
  std::int64_t bytes_of(const TensorMap& tensors) const;
  /// Of a round that is about to run.
  RoundRecord record_of(std::int64_t index, const std::vector<std::int64_t>& cohort) const;
  /// Positions of those who do any passes, longest first, so that the round does not end in one
  /// long client; ties by id. The others are recorded as dropped.
  std::vector<std::size_t> order_of_work(const std::vector<std::int64_t>& passes,
                                         std::vector<ClientRecord>& clients) const;
  /// Sets what of D_val the round is scored on; returns how many images, where the rule looks.
  std::optional<std::int64_t> choose_scored(std::int64_t index);
  void train_client(Worker& worker, const RoundStart& start, const Round& round,
                    ClientRecord& record, const std::atomic<bool>& stop, Finished& finished);
  /// Of the worker's model on the client's own samples; absent without any.
  std::optional<double> accuracy_on_own(Worker& worker, std::int64_t client) const;
  /// The client's own model under `own_models`; the global one without, and for -1.
  void load_own_model(Worker& worker, std::int64_t client);
  /// `evaluate` gets a worker with the global model, and some of the samples, for each chunk of
  /// them. Throws Interrupted once `stop` is true.
  void global_model_in_chunks(std::span<const std::int64_t> ids, const std::atomic<bool>& stop,
                              const std::function<void(Worker& worker, std::size_t chunk,
                                                       std::span<const std::int64_t>)>& evaluate);
  std::vector<ClientTally> global_model_on(const SampleStore& store,
                                           std::span<const std::vector<std::int64_t>> clients,
                                           const std::atomic<bool>& stop);
  std::vector<ClientTally> own_models_on(const SampleStore& store,
                                         std::span<const std::vector<std::int64_t>> clients,
                                         const std::atomic<bool>& stop);
  void add(Finished&& finished, Accepted& accepted);
  void step(Accepted& accepted, RoundRecord& record);
  /// Why a round without an accepted update is void, and what helps.
  std::string why_nobody(const RoundRecord& record) const;
  /// Why a round with so many accepted updates is void; empty: it is not.
  std::string too_few(std::size_t accepted, const RoundRecord& record) const;
  /// Moves the global model; all or nothing.
  void take_step(const Round& round, Combined&& combined);
  void summarize(const Accepted& accepted, const RoundStart& start, RoundRecord& record) const;

  DriverSetup setup_;
  Layout layout_;
  std::optional<DeadTaps> dead_;  ///< where the model is cropped
  bool has_run_ = false;
  double learning_rate_ = 0;  ///< of the local optimizer, before the schedule
  at::Tensor global_;         ///< w, [P]
  std::unique_ptr<ValidationBudget> budget_;
  Tensors buffers_;
  std::unique_ptr<ClientStateStore> states_;
  struct OwnFigures {
    std::int64_t version;
    Evaluation figures;
  };
  /// By test set and client: only clients that trained since are evaluated again.
  std::map<std::pair<const SampleStore*, std::int64_t>, OwnFigures> own_figures_;
  std::vector<std::unique_ptr<Worker>> workers_;
  WorkerPool pool_;
};

}  // namespace fedvg
