#include "engine/federation.h"

#include <ATen/Context.h>
#include <ATen/detail/CUDAHooksInterface.h>
#include <ATen/ops/tensor.h>
#include <torch/version.h>

#include <algorithm>

#include "data/choice.h"
#include "data/class_counts.h"
#include "data/normalization.h"
#include "data/stratify.h"
#include "data/wording.h"
#include "engine/autocast.h"
#include "engine/class_weights.h"
#include "engine/client_faults.h"
#include "engine/live_taps.h"
#include "engine/model_file.h"
#include "engine/model_input.h"
#include "engine/named_arrays.h"
#include "engine/round_driver.h"
#include "fedvg/error.h"
#include "fedvg/registry.h"
#include "fedvg/schedule.h"
#include "kernels/instruction_set.h"
#include "models/model_memory.h"

namespace fedvg {
namespace {

/// "cpu" or "cuda:N", checked against what this libtorch and machine have.
at::Device device_named(const std::string& name) {
  if (name == "cpu") return at::kCPU;
  const std::string prefix = "cuda";
  if (name.rfind(prefix, 0) != 0) {
    throw OptionError("device '" + name + "' is unknown; known: cpu, cuda:N");
  }
  std::int64_t number = 0;
  if (name.size() > prefix.size()) {
    const std::string digits = name.substr(prefix.size() + 1);
    const bool whole =
        name[prefix.size()] == ':' && !digits.empty() && digits.size() < 4 &&
        std::all_of(digits.begin(), digits.end(), [](char c) { return c >= '0' && c <= '9'; });
    if (!whole) throw OptionError("device '" + name + "' is unknown; known: cpu, cuda:N");
    number = std::stoll(digits);
  }
  if (!at::hasCUDA()) {
    throw RunError("device " + name +
                   ": this libtorch or machine has no CUDA device; take "
                   "--device cpu, or point the build at a CUDA build of PyTorch");
  }
  const std::int64_t devices = at::detail::getCUDAHooks().deviceCount();
  if (number >= devices) {
    throw RunError("device " + name + ": there are " + std::to_string(devices) +
                   " CUDA devices, cuda:0 to cuda:" + std::to_string(devices - 1));
  }
  return {at::kCUDA, static_cast<at::DeviceIndex>(number)};
}

void check_labels(const Samples& samples, std::int64_t classes, const char* part) {
  for (std::size_t i = 0; i < samples.labels.size(); ++i) {
    if (samples.labels[i] >= 0 && samples.labels[i] < classes) continue;
    throw DataError(std::string(part) + " label " + std::to_string(samples.labels[i]) +
                    " at position " + std::to_string(i) + " does not fit a model of " +
                    std::to_string(classes) + " outputs");
  }
}

/// Of all clients; a sample that several hold counts for each. Absent: all classes alike.
std::optional<at::Tensor> class_weights(const TrainOptions& train, const FederatedData& data,
                                        const ImageFormat& format) {
  if (train.class_weights != "balanced") return std::nullopt;
  std::vector<std::int64_t> samples(data.dataset.classes.size(), 0);
  for (const auto& client : data.clients) {
    const auto own = class_counts(client, data.dataset.training.labels, samples.size());
    for (std::size_t c = 0; c < samples.size(); ++c) samples[c] += own[c];
  }
  return at::tensor(balanced_class_weights(samples), at::kDouble).to(format.device, format.dtype);
}

/// All of dataset.training but the test samples that lie in it.
IndexList training_part(const FederatedData& data) {
  if (!data.pooled) return all_positions(data.dataset.training.size());
  IndexList test = data.test;
  std::sort(test.begin(), test.end());
  return all_but(data.dataset.training.size(), test);
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

/// Each once, rising.
IndexList samples_of_all(const std::vector<IndexList>& clients) {
  IndexList all;
  for (const auto& client : clients) all.insert(all.end(), client.begin(), client.end());
  std::sort(all.begin(), all.end());
  all.erase(std::unique(all.begin(), all.end()), all.end());
  return all;
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

/// Asks the network for what the method looks at.
void ask_for_features(Model& model, const FederationSetup& setup) {
  if (model.give_features()) return;
  throw OptionError("method.correction " + setup.method.correction.name +
                    " compares features, and model " + setup.model.name +
                    " gives none; export a method features(images) beside forward(), or take "
                    "another method");
}

/// A network that draws from libtorch's one generator goes with one worker.
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

/// Batches of one sample would all be skipped.
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

/// Options that nothing looks at, for people.
void note_idle(const FederationSetup& setup, const Model& model, bool keeps_updates,
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

constexpr std::int64_t kMegabyte = 1 << 20;

double parameter_bytes(const Model& model, at::ScalarType type) {
  double numbers = 0;
  for (const auto& entry : model.parameters()) numbers += static_cast<double>(entry.tensor.numel());
  return numbers * static_cast<double>(c10::elementSize(type));
}

/// What ClientStateStore holds of a client, but for small things.
std::int64_t state_bytes(const DriverSetup& setup, const Model& model) {
  const auto number = static_cast<std::int64_t>(c10::elementSize(setup.format.dtype));
  const auto bytes_of = [&](const std::vector<NamedTensor>& tensors) {
    std::int64_t numbers = 0;
    for (const auto& entry : tensors) numbers += entry.tensor.numel();
    return numbers * number;
  };
  std::int64_t vectors = setup.correction->vectors_kept();
  if (setup.rules.keep_optimizer) vectors += setup.build_optimizer()->vectors_kept();
  const bool buffers = setup.rules.buffers == BufferRule::local;
  return vectors * bytes_of(model.parameters()) + (buffers ? bytes_of(model.buffers()) : 0);
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

/// Where scoring.budget applies D_val is scored on in a stratified order; otherwise in its own.
IndexList scoring_order(const FederatedData& data, const FederationSetup& setup,
                        FederationInfo& info) {
  if (setup.scoring.budget == 0) return data.validation;
  const std::size_t batches =
      cut(data.validation, setup.scoring.batch_size, /*join_last=*/true).batches();
  if (!ValidationBudget::applies(batches)) {
    info.notes.push_back("scoring.budget: D_val is no more than " +
                         std::to_string(ValidationBudget::kGroups) +
                         " batches of scoring.batch_size, and all of it is scored on");
    return data.validation;
  }
  Random random(setup.seed, "validation-budget");
  return stratified_order(data.validation, data.validation_samples().labels,
                          static_cast<std::int64_t>(data.dataset.classes.size()), random);
}

/// A combiner that keeps all updates of a round must fit into engine.memory.
void check_memory(const FederationSetup& setup, const RoundDriver& driver,
                  const Combiner& combiner) {
  if (combiner.takes_weights() || setup.largest_cohort == 0) return;
  const std::int64_t model =
      driver.layout().size() * static_cast<std::int64_t>(driver.global().itemsize());
  const std::int64_t needed = combiner.models_held(setup.largest_cohort, 1) * model;
  const auto half = static_cast<std::int64_t>(machine_memory() / 2);
  const std::int64_t allowed = setup.engine.memory > 0 ? setup.engine.memory * kMegabyte : half;
  if (needed <= allowed) return;
  throw OptionError("method.combiner " + setup.method.combiner.name + " keeps the updates of all " +
                    std::to_string(setup.largest_cohort) + " participants, " +
                    std::to_string(needed / kMegabyte) + " MB, and engine.memory allows " +
                    std::to_string(allowed / kMegabyte) + " MB");
}

/// The loops that workers use: none where layers are not float32 on one thread of a CPU.
const kernels::KernelTable* kernels_for(const EngineOptions& engine, const ImageFormat& format) {
  const bool cpu = format.device.is_cpu();
  const bool fits = cpu && format.dtype == at::kFloat && !format.bf16 && engine.threads == 1;
  if (fits || engine.kernels == "aten") return kernels::kernels_of(engine.kernels);
  if (engine.kernels == "auto") return nullptr;
  throw OptionError("engine.kernels = \"" + engine.kernels +
                    "\": these loops are for float32 on one thread of a processor; leave it at "
                    "\"auto\" with " +
                    (!cpu                  ? "a device"
                     : engine.threads != 1 ? "engine.threads above 1"
                                           : "engine.precision = \"" + engine.precision + "\""));
}

}  // namespace

struct Federation::Impl {
  FederationInfo info;
  std::unique_ptr<SampleStore> training, own_test, own_validation;
  const SampleStore* test = nullptr;        ///< own_test, or training when pooled
  const SampleStore* validation = nullptr;  ///< own_validation, or training
  std::vector<std::int64_t> test_ids, validation_ids;
  std::vector<std::int64_t> training_ids;           ///< of all clients, each once
  const std::vector<IndexList>* clients = nullptr;  ///< their samples, in `training`
  Line line = Line::federated;
  std::unique_ptr<RoundDriver> driver;

  Evaluation evaluate(const SampleStore& store, std::span<const std::int64_t> ids,
                      const std::atomic<bool>& stop);
  /// Replaces the global model, but for a `head` of other classes, which is returned.
  std::vector<TensorMisfit> load(const std::vector<NamedArray>& arrays, const std::string& head);
  void load_initial(const std::string& path, const std::string& head);
};

Federation::Federation(const FederatedData& data, FederationSetup setup)
    : impl_(std::make_unique<Impl>()) {
  const Dataset& dataset = data.dataset;
  const auto classes = static_cast<std::int64_t>(dataset.classes.size());
  check_labels(dataset.training, classes, "training");
  check_labels(dataset.test, classes, "test");
  if (data.validation_set) check_labels(*data.validation_set, classes, "validation");

  DriverSetup driver;
  driver.correction = Registry<Correction>::instance().make(setup.method.correction);
  driver.weighting = Registry<WeightingRule>::instance().make(setup.method.weighting);
  driver.server = Registry<ServerOptimizer>::instance().make(setup.method.server);
  driver.combiner = Registry<Combiner>::instance().make(setup.method.combiner);
  if (setup.method.line == Line::centralized) setup.largest_cohort = 1;
  check_client_faults(setup.train, setup.method, setup.largest_cohort);
  check_combiner(setup, driver);
  check_budget(setup, driver);
  if (setup.train.buffers != "global" && data.validation.empty()) {
    throw OptionError("train.buffers = \"" + setup.train.buffers +
                      "\" takes the global model's "
                      "running statistics from D_val, and there is none; set validation.source "
                      "= \"holdout\"");
  }
  if (driver.weighting->needs_validation() && data.validation.empty()) {
    throw OptionError("method " + setup.method.name +
                      " weighs clients on the server's "
                      "validation set D_val, and there is none; set validation.source = "
                      "\"holdout\" (a part of the training set) or take method.name = \"fedavg\"");
  }

  driver.format.dtype = setup.engine.precision == "float64" ? at::kDouble : at::kFloat;
  driver.format.device = device_named(setup.device);
  driver.format.bf16 = setup.engine.precision == "bf16";
  if (driver.format.bf16 && driver.format.device.is_cpu() && !processor_has_bf16()) {
    throw OptionError(
        "engine.precision = \"bf16\": this processor has no bfloat16 arithmetic (AVX512_BF16); "
        "take "
        "\"float32\"");
  }
  const ModelInput input = model_input(dataset.training, classes);
  const std::shared_ptr<const ModelBuilder> builder =
      Registry<ModelBuilder>::instance().make(setup.model);
  const bool features = driver.correction->needs_features();
  driver.build_model = [builder, input, features] {
    auto made = builder->build(input);
    if (features) made->give_features();
    return made;
  };
  driver.build_optimizer = [part = setup.train.optimizer] {
    return Registry<LocalOptimizer>::instance().make(part);
  };
  auto model = model_for(*builder, dataset.training, classes, setup.model.name);
  if (features) ask_for_features(*model, setup);
  driver.kernels = kernels_for(setup.engine, driver.format);
  const bool plain = !driver.kernels && driver.format.device.is_cpu() && !driver.format.bf16;
  driver.format.channels_last = model->channels_last(plain);
  driver.format.channels = batch_channels(*model, dataset.training, setup.model.name);
  check_augmentation(setup.augmentation, dataset.training);
  check_batch_size(*model, setup);

  const ChannelStatistics statistics =
      Registry<Normalization>::instance()
          .make(setup.normalize)
          ->statistics(dataset.training, training_part(data), driver.format.channels);
  impl_->training = make_store(dataset.training, driver.format, statistics);
  if (!data.pooled) impl_->own_test = make_store(dataset.test, driver.format, statistics);
  impl_->test = data.pooled ? impl_->training.get() : impl_->own_test.get();
  impl_->test_ids = data.test;
  if (data.validation_set) {
    impl_->own_validation = make_store(*data.validation_set, driver.format, statistics);
  }
  impl_->validation = data.validation_set ? impl_->own_validation.get() : impl_->training.get();
  impl_->validation_ids = data.validation;
  impl_->line = setup.method.line;
  for (const auto& samples : data.clients) {
    if (impl_->line != Line::centralized || driver.clients.empty()) {
      driver.clients.push_back({.store = impl_->training.get()});
    }
    auto& own = driver.clients.back().samples;
    own.insert(own.end(), samples.begin(), samples.end());
  }
  impl_->training_ids = samples_of_all(data.clients);
  impl_->clients = &data.clients;
  if (impl_->line != Line::centralized) driver.corrupted = data.corrupted;
  driver.corrupted_update_factor = setup.corrupted_update_factor;
  if (!data.validation.empty()) {
    driver.validation = {impl_->validation,
                         cut(scoring_order(data, setup, impl_->info), setup.scoring.batch_size,
                             /*join_last=*/true),
                         setup.scoring.mode == "eval" ? Mode::eval : Mode::batch_statistics};
  }
  driver.scoring_budget = setup.scoring.budget;
  driver.rules = {.epochs = setup.train.epochs,
                  .steps = setup.train.steps,
                  .batch_size = setup.train.batch_size,
                  .shuffle = setup.train.shuffle,
                  .clip = setup.train.clip,
                  .keep_optimizer = setup.train.optimizer_state == "keep",
                  .buffers = setup.train.buffers == "global"  ? BufferRule::global
                             : setup.train.buffers == "local" ? BufferRule::local
                                                              : BufferRule::reset,
                  .seed = setup.seed,
                  .augmentation = setup.augmentation,
                  .class_weights = class_weights(setup.train, data, driver.format)};
  const std::shared_ptr<const Schedule> schedule =
      Registry<Schedule>::instance().make(setup.train.schedule);
  driver.learning_rate_factor = [schedule, rounds = setup.train.rounds](std::int64_t round) {
    return schedule->factor(round, rounds);
  };
  driver.faults = {setup.train.drop_out, setup.train.stragglers};
  driver.min_participants = setup.train.min_participants;
  driver.own_models = impl_->line == Line::local;
  if (setup.evaluate.clients) {
    driver.measures_clients = [every = setup.evaluate.every,
                               rounds = setup.train.rounds](std::int64_t round) {
      return round % every == 0 || round == rounds;
    };
  }
  driver.state_memory = setup.engine.state_memory * kMegabyte;
  driver.state_folder = setup.state_folder;
  driver.window = static_cast<std::size_t>(setup.engine.window);
  driver.before_training = setup.before_training;

  FederationInfo& info = impl_->info;
  if (driver.format.channels != dataset.training.channels) {
    info.notes.push_back("images: the one channel is repeated to the " +
                         std::to_string(driver.format.channels) + " that model " +
                         setup.model.name + " takes");
  }
  auto constant = constant_features_note(statistics);
  if (!constant.empty()) info.notes.push_back(std::move(constant));
  if (impl_->line == Line::centralized) {
    info.notes.push_back(
        "centralized: the samples of all clients are trained on as one, in "
        "every round; who takes part does not apply");
  } else if (impl_->line == Line::local) {
    info.notes.push_back(
        "local: clients share nothing; accuracies and losses are means over "
        "clients' own models, model.safetensors is the initial one");
  }
  if (!data.test.empty()) {
    const auto& labels = data.test_samples().labels;
    auto absent = absent_classes_note(
        "the test set", class_counts(data.test, labels, dataset.classes.size()), dataset.classes);
    if (!absent.empty()) info.notes.push_back(std::move(absent));
  }
  const auto cores = static_cast<std::int64_t>(allowed_cores().size());
  info.workers = setup.engine.workers > 0 ? setup.engine.workers
                                          : std::max(std::int64_t{1}, cores / setup.engine.threads);
  if (setup.largest_cohort > 0 && info.workers > setup.largest_cohort) {
    if (setup.engine.workers > 0) {
      info.notes.push_back("workers: " + std::to_string(info.workers) + " asked for, " +
                           std::to_string(setup.largest_cohort) +
                           " used: a round has no more participants");
    }
    info.workers = setup.largest_cohort;
  }
  const std::string against = setup.engine.live_taps ? against_live_taps(setup, driver) : "";
  if (setup.engine.live_taps && against.empty()) {
    driver.live_taps = input;
    model->crop_to_live_taps(input);
  }
  check_draws(*model, setup, info);
  for (auto& note : model->notes()) info.notes.push_back(std::move(note));
  info.state_bytes = state_bytes(driver, *model);
  for (auto& note : idle_client_faults(setup.train, setup.largest_cohort)) {
    info.notes.push_back(std::move(note));
  }
  note_idle(setup, *model, !driver.combiner->takes_weights(), info);
  const double model_bytes = parameter_bytes(*model, driver.format.dtype);
  const std::string head = model->head();
  if (!against.empty() && !model->crop_to_live_taps(input).empty()) {
    info.notes.push_back("engine.live_taps: off, weights that no pixel meets are kept, as " +
                         against);
  }
  model.reset();
  if (info.workers * setup.engine.threads > cores) {
    const std::string threads =
        setup.engine.threads == 1
            ? ""
            : " with " + std::to_string(setup.engine.threads) + " threads each";
    info.notes.push_back(counted(info.workers, "worker") + threads + " on " +
                         counted(cores, "core") + ": slower than as many threads as cores");
  }
  info.score_parts = static_cast<std::int64_t>(driver.weighting->parts());
  if (setup.engine.workers == 0) {
    const auto fitting = workers_that_fit(model_bytes, info.workers, info.score_parts);
    if (fitting < info.workers) {
      info.notes.push_back("workers: " + std::to_string(fitting) + " instead of " +
                           std::to_string(info.workers) + ", each with a model of " +
                           memory_text(model_bytes) + ", so that half of the memory stays free; " +
                           "engine.threads gives the other cores work");
      info.workers = fitting;
    }
  }
  check_copies(model_bytes, info.workers, info.score_parts, setup.model.name);
  driver.workers = static_cast<std::size_t>(info.workers);
  driver.threads = static_cast<std::size_t>(setup.engine.threads);
  info.kernels = driver.kernels ? driver.kernels->name : "aten";
  info.keeps_updates = !driver.combiner->takes_weights();
  info.threads = setup.engine.threads;
  info.precision = setup.engine.precision;
  info.memory_format = driver.format.channels_last ? "channels_last" : "contiguous";
  info.libtorch_version = TORCH_VERSION;
  info.device = setup.device;

  const Combiner& combiner = *driver.combiner;
  impl_->driver = std::make_unique<RoundDriver>(std::move(driver));
  check_memory(setup, *impl_->driver, combiner);
  if (impl_->line == Line::local && setup.train.buffers == "global" &&
      !impl_->driver->buffers().empty()) {
    throw OptionError(
        "method local shares nothing, so the running statistics of BatchNorm are each client's "
        "own; set train.buffers = \"local\"");
  }
  const Layout& layout = impl_->driver->model_layout();
  info.parameters = layout.parameters();
  info.live = impl_->driver->layout().parameters();
  info.live_bytes = info.live * static_cast<std::int64_t>(impl_->driver->global().itemsize());
  for (const auto& buffer : impl_->driver->buffers()) {
    info.buffer_bytes += static_cast<std::int64_t>(buffer.nbytes());
  }
  for (const auto& slot : layout.slots()) {
    info.tensors.push_back({slot.name, slot.block, slot.shape});
  }
  if (!setup.initial_model.empty()) impl_->load_initial(setup.initial_model, head);
}

Federation::~Federation() = default;

const FederationInfo& Federation::info() const { return impl_->info; }

RoundRecord Federation::run_round(std::int64_t round, const std::vector<std::int64_t>& cohort,
                                  const std::atomic<bool>& stop,
                                  const std::function<void(Progress)>& progress) {
  const bool pooled = impl_->line == Line::centralized;
  return impl_->driver->run_round(round, pooled ? std::vector<std::int64_t>{0} : cohort, stop,
                                  progress);
}

Evaluation Federation::Impl::evaluate(const SampleStore& store, std::span<const std::int64_t> ids,
                                      const std::atomic<bool>& stop) {
  return line == Line::local ? driver->evaluate_own_models(store, ids, stop)
                             : driver->evaluate(store, ids, stop);
}

Evaluation Federation::evaluate_test(const std::atomic<bool>& stop) {
  return impl_->evaluate(*impl_->test, impl_->test_ids, stop);
}

std::optional<Evaluation> Federation::evaluate_validation(const std::atomic<bool>& stop) {
  if (impl_->validation_ids.empty()) return std::nullopt;
  return impl_->evaluate(*impl_->validation, impl_->validation_ids, stop);
}

ClientFigures Federation::evaluate_clients(const std::atomic<bool>& stop) {
  return impl_->driver->evaluate_clients(*impl_->training, *impl_->clients, stop);
}

std::optional<Evaluation> Federation::evaluate(DataPart part, Predictions& predictions,
                                               const std::atomic<bool>& stop) {
  const auto& ids = part_samples(part);
  if (ids.empty()) return std::nullopt;
  const SampleStore& store = part == DataPart::test         ? *impl_->test
                             : part == DataPart::validation ? *impl_->validation
                                                            : *impl_->training;
  return impl_->driver->evaluate(store, ids, stop, &predictions);
}

const std::vector<std::int64_t>& Federation::part_samples(DataPart part) const {
  return part == DataPart::test         ? impl_->test_ids
         : part == DataPart::validation ? impl_->validation_ids
                                        : impl_->training_ids;
}

std::vector<NamedArray> Federation::model() const {
  std::vector<NamedArray> arrays;
  const Layout& layout = impl_->driver->model_layout();
  const at::Tensor w = impl_->driver->model();
  for (std::size_t i = 0; i < layout.tensors(); ++i) {
    arrays.push_back(to_array(layout.slots()[i].name, layout.view(w, i)));
  }
  const auto& names = impl_->driver->buffer_names();
  for (std::size_t i = 0; i < names.size(); ++i) {
    arrays.push_back(to_array(names[i].name, impl_->driver->buffers()[i]));
  }
  return arrays;
}

std::vector<TensorMisfit> Federation::Impl::load(const std::vector<NamedArray>& arrays,
                                                 const std::string& head) {
  const Layout& layout = driver->model_layout();
  const at::Tensor w = driver->model().clone();
  std::vector<NamedTensor> targets;
  for (std::size_t i = 0; i < layout.tensors(); ++i) {
    targets.push_back({layout.slots()[i].name, layout.slots()[i].block, layout.view(w, i)});
  }
  Tensors buffers;
  const auto& names = driver->buffer_names();
  for (std::size_t i = 0; i < names.size(); ++i) {
    buffers.push_back(driver->buffers()[i].clone());
    targets.push_back({names[i].name, names[i].block, buffers.back()});
  }
  const auto replaced = load_but_other_head(arrays, targets, head);
  driver->set_global(w, buffers);
  return replaced;
}

void Federation::Impl::load_initial(const std::string& path, const std::string& head) {
  const TensorFile file = read_safetensors(path);
  std::vector<TensorMisfit> replaced;
  try {
    replaced = load(file.tensors, head);
  } catch (const DataError& error) {
    throw DataError("model.init: " + path + ": " + error.what());
  }
  if (replaced.empty()) return;
  info.notes.push_back("model.init: the file's classifier is of other classes, " + head +
                       " starts as drawn (" + text_of({replaced[0]}) + ")");
}

void Federation::load_model(const std::vector<NamedArray>& arrays) { impl_->load(arrays, ""); }

FederationState Federation::save() { return impl_->driver->save(); }

void Federation::restore(const FederationState& state) { impl_->driver->restore(state); }

void Federation::forget_client_states() { impl_->driver->forget_client_states(); }

void Federation::keep_client_states(const std::vector<ClientVersion>& named) {
  impl_->driver->keep_client_states(named);
}

}  // namespace fedvg
