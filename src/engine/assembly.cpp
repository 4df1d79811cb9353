#include "engine/assembly.h"

#include <ATen/ops/tensor.h>
#include <torch/version.h>

#include "data/class_counts.h"
#include "data/normalization.h"
#include "engine/autocast.h"
#include "engine/class_weights.h"
#include "engine/device.h"
#include "engine/federation_checks.h"
#include "engine/global_model.h"
#include "engine/live_taps.h"
#include "engine/model_input.h"
#include "engine/worker_count.h"
#include "fedvg/error.h"
#include "fedvg/registry.h"
#include "fedvg/schedule.h"
#include "kernels/instruction_set.h"
#include "models/model_memory.h"

namespace fedvg {
namespace {

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

/// Asks the network for what the method looks at.
void ask_for_features(Model& model, const FederationSetup& setup) {
  if (model.give_features()) return;
  throw OptionError("method.correction " + setup.method.correction.name +
                    " compares features, and model " + setup.model.name +
                    " gives none; export a method features(images) beside forward(), or take "
                    "another method");
}

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

/// But for what the network decides.
ImageFormat format_of(const FederationSetup& setup) {
  ImageFormat format;
  format.dtype = setup.engine.precision == "float64" ? at::kDouble : at::kFloat;
  format.device = device_named(setup.device);
  format.bf16 = setup.engine.precision == "bf16";
  if (format.bf16 && format.device.is_cpu() && !processor_has_bf16()) {
    throw OptionError(
        "engine.precision = \"bf16\": this processor has no bfloat16 arithmetic (AVX512_BF16); "
        "take "
        "\"float32\"");
  }
  return format;
}

/// The parts of the method, and what else is taken from the setup as it is.
DriverSetup driver_of(const FederationSetup& setup) {
  DriverSetup driver;
  const Method& method = setup.method;
  driver.correction = Registry<Correction>::instance().make(method.correction);
  driver.weighting = Registry<WeightingRule>::instance().make(method.weighting);
  driver.server = Registry<ServerOptimizer>::instance().make(method.server);
  driver.combiner = Registry<Combiner>::instance().make(method.combiner);
  driver.build_optimizer = [part = setup.train.optimizer] {
    return Registry<LocalOptimizer>::instance().make(part);
  };
  const std::int64_t rounds = setup.train.rounds;
  const std::shared_ptr<const Schedule> schedule =
      Registry<Schedule>::instance().make(setup.train.schedule);
  driver.learning_rate_factor = [schedule, rounds](std::int64_t round) {
    return schedule->factor(round, rounds);
  };
  if (setup.evaluate.clients) {
    driver.measures_clients = [every = setup.evaluate.every, rounds](std::int64_t round) {
      return round % every == 0 || round == rounds;
    };
  }
  driver.corrupted_update_factor = setup.corrupted_update_factor;
  driver.scoring_budget = setup.scoring.budget;
  driver.faults = {setup.train.drop_out, setup.train.stragglers};
  driver.min_participants = setup.train.min_participants;
  driver.own_models = method.line == Line::local;
  driver.state_memory = setup.engine.state_memory * megabyte;
  driver.state_folder = setup.state_folder;
  driver.window = static_cast<std::size_t>(setup.engine.window);
  driver.threads = static_cast<std::size_t>(setup.engine.threads);
  driver.before_training = setup.before_training;
  return driver;
}

LocalRules local_rules(const FederationSetup& setup, const FederatedData& data,
                       const ImageFormat& format) {
  const TrainOptions& train = setup.train;
  return {.epochs = train.epochs,
          .steps = train.steps,
          .batch_size = train.batch_size,
          .shuffle = train.shuffle,
          .clip = train.clip,
          .keep_optimizer = train.optimizer_state == "keep",
          .buffers = train.buffers == "global"  ? BufferRule::global
                     : train.buffers == "local" ? BufferRule::local
                                                : BufferRule::reset,
          .seed = setup.seed,
          .augmentation = setup.augmentation,
          .class_weights = class_weights(train, data, format)};
}

/// Gives the driver its network, and the format of batches what the network decides; returns one
/// to look at.
std::unique_ptr<Model> settle_model(const FederationSetup& setup, const Dataset& dataset,
                                    const ModelInput& input, DriverSetup& driver) {
  const std::shared_ptr<const ModelBuilder> builder =
      Registry<ModelBuilder>::instance().make(setup.model);
  const bool features = driver.correction->needs_features();
  driver.build_model = [builder, input, features] {
    auto made = builder->build(input);
    if (features) made->give_features();
    return made;
  };
  auto model = model_for(*builder, dataset.training,
                         static_cast<std::int64_t>(dataset.classes.size()), setup.model.name);
  if (features) ask_for_features(*model, setup);
  ImageFormat& format = driver.format;
  driver.kernels = kernels_for(setup.engine, format);
  const bool plain = !driver.kernels && format.device.is_cpu() && !format.bf16;
  format.channels_last = model->channels_last(plain);
  format.channels = batch_channels(*model, dataset.training, setup.model.name);
  check_batch_size(*model, setup);
  return model;
}

/// Crops the model to its live taps where the parts go along; returns why not, where they do not.
std::string settle_live_taps(const FederationSetup& setup, const ModelInput& input,
                             DriverSetup& driver, Model& model) {
  if (!setup.engine.live_taps) return "";
  std::string against = against_live_taps(setup, driver);
  if (!against.empty()) return against;
  driver.live_taps = input;
  model.crop_to_live_taps(input);
  return "";
}

/// Facts about what runs.
void describe(const FederationSetup& setup, const RoundDriver& driver, FederationInfo& info) {
  info.threads = setup.engine.threads;
  info.precision = setup.engine.precision;
  info.libtorch_version = TORCH_VERSION;
  info.device = setup.device;
  const Layout& layout = driver.model_layout();
  info.parameters = layout.parameters();
  info.live = driver.layout().parameters();
  info.live_bytes = info.live * static_cast<std::int64_t>(driver.global().itemsize());
  for (const auto& buffer : driver.buffers()) {
    info.buffer_bytes += static_cast<std::int64_t>(buffer.nbytes());
  }
  for (const auto& slot : layout.slots()) {
    info.tensors.push_back({slot.name, slot.block, slot.shape});
  }
}

/// D_val as it is scored on.
Worker::Validation validation_of(const FederatedData& data, const FederationSetup& setup,
                                 const FederationSamples& samples, FederationInfo& info) {
  if (data.validation.empty()) return {};
  return {samples.validation,
          cut(scoring_order(data, setup, info), setup.scoring.batch_size, /*join_last=*/true),
          setup.scoring.mode == "eval" ? Mode::eval : Mode::batch_statistics};
}

}  // namespace

Assembly assemble(const FederatedData& data, FederationSetup setup) {
  const Dataset& dataset = data.dataset;
  check_labels(data);
  Assembly made;
  FederationInfo& info = made.info;
  const Line line = made.line = setup.method.line;
  if (line == Line::centralized) setup.largest_cohort = 1;
  DriverSetup driver = driver_of(setup);
  check_client_faults(setup.train, setup.method, setup.largest_cohort);
  check_parts(setup, driver, !data.validation.empty());
  driver.format = format_of(setup);
  const ModelInput input =
      model_input(dataset.training, static_cast<std::int64_t>(dataset.classes.size()));
  auto model = settle_model(setup, dataset, input, driver);
  check_augmentation(setup.augmentation, dataset.training);

  const ChannelStatistics statistics =
      Registry<Normalization>::instance()
          .make(setup.normalize)
          ->statistics(dataset.training, training_part(data), driver.format.channels);
  made.samples = samples_of(data, driver.format, statistics);
  driver.clients = local_data_of(data, *made.samples.training, line == Line::centralized);
  if (line != Line::centralized) driver.corrupted = data.corrupted;
  driver.validation = validation_of(data, setup, made.samples, info);
  driver.rules = local_rules(setup, data, driver.format);

  if (driver.format.channels != dataset.training.channels) {
    info.notes.push_back("images: the one channel is repeated to the " +
                         std::to_string(driver.format.channels) + " that model " +
                         setup.model.name + " takes");
  }
  note_data(data, statistics, info);
  note_line(line, info);
  const std::string against = settle_live_taps(setup, input, driver, *model);
  for (auto& note : model->notes()) info.notes.push_back(std::move(note));
  for (auto& note : idle_client_faults(setup.train, setup.largest_cohort)) {
    info.notes.push_back(std::move(note));
  }
  info.state_bytes = state_bytes(driver, *model);
  info.score_parts = static_cast<std::int64_t>(driver.weighting->parts());
  info.keeps_updates = !driver.combiner->takes_weights();
  info.kernels = driver.kernels ? driver.kernels->name : "aten";
  info.memory_format = driver.format.channels_last ? "channels_last" : "contiguous";
  note_idle_options(setup, *model, info.keeps_updates, info);
  settle_workers(setup, *model, parameter_bytes(*model, driver.format.dtype), info);
  driver.workers = static_cast<std::size_t>(info.workers);
  const std::string head = model->head();
  if (!against.empty() && !model->crop_to_live_taps(input).empty()) {
    info.notes.push_back("engine.live_taps: off, weights that no pixel meets are kept, as " +
                         against);
  }
  model.reset();

  const Combiner& combiner = *driver.combiner;
  made.driver = std::make_unique<RoundDriver>(std::move(driver));
  check_kept_updates(
      setup, combiner,
      made.driver->layout().size() * static_cast<std::int64_t>(made.driver->global().itemsize()));
  if (line == Line::local && setup.train.buffers == "global" && !made.driver->buffers().empty()) {
    throw OptionError(
        "method local shares nothing, so the running statistics of BatchNorm are each client's "
        "own; set train.buffers = \"local\"");
  }
  describe(setup, *made.driver, info);
  if (!setup.initial_model.empty()) {
    load_initial_model(setup.initial_model, head, *made.driver, info);
  }
  return made;
}

}  // namespace fedvg
