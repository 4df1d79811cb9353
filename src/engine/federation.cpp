#include "engine/federation.h"

#include <ATen/Context.h>
#include <ATen/detail/CUDAHooksInterface.h>
#include <torch/version.h>
#include <unistd.h>

#include <algorithm>
#include <numeric>

#include "engine/named_arrays.h"
#include "engine/round_driver.h"
#include "fedvg/error.h"
#include "fedvg/registry.h"
#include "fedvg/schedule.h"

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

constexpr std::int64_t kMegabyte = 1 << 20;

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
  if (setup.largest_cohort > 0) driver.combiner->check(setup.largest_cohort);
}

/// A combiner that keeps all updates of a round must fit into engine.memory.
void check_memory(const FederationSetup& setup, const RoundDriver& driver,
                  const Combiner& combiner) {
  if (combiner.takes_weights() || setup.largest_cohort == 0) return;
  const std::int64_t model =
      driver.layout().size() * static_cast<std::int64_t>(driver.global().itemsize());
  const std::int64_t needed = combiner.models_held(setup.largest_cohort, 1) * model;
  const std::int64_t half =
      static_cast<std::int64_t>(sysconf(_SC_PHYS_PAGES)) * sysconf(_SC_PAGESIZE) / 2;
  const std::int64_t allowed = setup.engine.memory > 0 ? setup.engine.memory * kMegabyte : half;
  if (needed <= allowed) return;
  throw OptionError("method.combiner " + setup.method.combiner.name + " keeps the updates of all " +
                    std::to_string(setup.largest_cohort) + " participants, " +
                    std::to_string(needed / kMegabyte) + " MB, and engine.memory allows " +
                    std::to_string(allowed / kMegabyte) + " MB");
}

}  // namespace

struct Federation::Impl {
  FederationInfo info;
  std::unique_ptr<ByteStore> training, test;
  std::vector<std::int64_t> test_ids, validation_ids;
  Line line = Line::federated;
  std::unique_ptr<RoundDriver> driver;

  Evaluation evaluate(const SampleStore& store, std::span<const std::int64_t> ids,
                      const std::atomic<bool>& stop);
};

Federation::Federation(const FederatedData& data, FederationSetup setup)
    : impl_(std::make_unique<Impl>()) {
  const Dataset& dataset = data.dataset;
  const auto classes = static_cast<std::int64_t>(dataset.classes.size());
  check_labels(dataset.training, classes, "training");
  check_labels(dataset.test, classes, "test");

  DriverSetup driver;
  driver.correction = Registry<Correction>::instance().make(setup.method.correction);
  driver.weighting = Registry<WeightingRule>::instance().make(setup.method.weighting);
  driver.server = Registry<ServerOptimizer>::instance().make(setup.method.server);
  driver.combiner = Registry<Combiner>::instance().make(setup.method.combiner);
  check_combiner(setup, driver);
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
  const ModelInput input{dataset.training.channels, dataset.training.height, dataset.training.width,
                         classes};
  const std::shared_ptr<const ModelBuilder> builder =
      Registry<ModelBuilder>::instance().make(setup.model);
  driver.build_model = [builder, input] { return builder->build(input); };
  driver.build_optimizer = [part = setup.train.optimizer] {
    return Registry<LocalOptimizer>::instance().make(part);
  };
  driver.format.channels_last = driver.build_model()->channels_last();

  const ChannelStatistics statistics =
      setup.normalize_by_training_data ? channel_statistics(dataset.training) : ChannelStatistics{};
  impl_->training = std::make_unique<ByteStore>(dataset.training, driver.format, statistics);
  impl_->test = std::make_unique<ByteStore>(dataset.test, driver.format, statistics);
  impl_->test_ids.resize(dataset.test.labels.size());
  std::iota(impl_->test_ids.begin(), impl_->test_ids.end(), 0);
  impl_->validation_ids = data.validation;
  impl_->line = setup.method.line;
  for (const auto& samples : data.clients) {
    if (impl_->line != Line::centralized || driver.clients.empty()) {
      driver.clients.push_back({.store = impl_->training.get()});
    }
    auto& own = driver.clients.back().samples;
    own.insert(own.end(), samples.begin(), samples.end());
  }
  if (impl_->line == Line::centralized) setup.largest_cohort = 1;
  if (!data.validation.empty()) {
    driver.validation = {impl_->training.get(),
                         cut(data.validation, setup.scoring.batch_size, /*join_last=*/true),
                         setup.scoring.mode == "eval" ? Mode::eval : Mode::batch_statistics};
  }
  driver.rules = {.epochs = setup.train.epochs,
                  .steps = setup.train.steps,
                  .batch_size = setup.train.batch_size,
                  .shuffle = setup.train.shuffle,
                  .clip = setup.train.clip,
                  .keep_optimizer = setup.train.optimizer_state == "keep",
                  .buffers = setup.train.buffers == "global"  ? BufferRule::global
                             : setup.train.buffers == "local" ? BufferRule::local
                                                              : BufferRule::reset,
                  .seed = setup.seed};
  const std::shared_ptr<const Schedule> schedule =
      Registry<Schedule>::instance().make(setup.train.schedule);
  driver.learning_rate_factor = [schedule, rounds = setup.train.rounds](std::int64_t round) {
    return schedule->factor(round, rounds);
  };
  driver.state_memory = setup.engine.state_memory * kMegabyte;
  driver.state_folder = setup.state_folder;
  driver.window = static_cast<std::size_t>(setup.engine.window);
  driver.before_training = setup.before_training;

  FederationInfo& info = impl_->info;
  if (impl_->line == Line::centralized) {
    info.notes.push_back(
        "centralized: the samples of all clients are trained on as one, in "
        "every round; who takes part does not apply");
  } else if (impl_->line == Line::local) {
    info.notes.push_back(
        "local: clients share nothing; accuracies and losses are means over "
        "clients' own models, model.safetensors is the initial one");
  }
  const auto cores = static_cast<std::int64_t>(allowed_cores().size());
  info.workers = setup.engine.workers > 0 ? setup.engine.workers : cores;
  if (setup.largest_cohort > 0 && info.workers > setup.largest_cohort) {
    if (setup.engine.workers > 0) {
      info.notes.push_back("workers: " + std::to_string(info.workers) + " asked for, " +
                           std::to_string(setup.largest_cohort) +
                           " used: a round has no more participants");
    }
    info.workers = setup.largest_cohort;
  }
  if (info.workers > cores) {
    info.notes.push_back("workers: " + std::to_string(info.workers) + " share " +
                         std::to_string(cores) + (cores == 1 ? " core" : " cores"));
  }
  driver.workers = static_cast<std::size_t>(info.workers);
  info.score_parts = static_cast<std::int64_t>(driver.weighting->parts());
  info.keeps_updates = !driver.combiner->takes_weights();
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
  const Layout& layout = impl_->driver->layout();
  info.parameters = layout.parameters();
  for (const auto& slot : layout.slots()) {
    info.tensors.push_back({slot.name, slot.block, slot.shape});
  }
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
  return impl_->evaluate(*impl_->training, impl_->validation_ids, stop);
}

std::vector<NamedArray> Federation::model() const {
  std::vector<NamedArray> arrays;
  const Layout& layout = impl_->driver->layout();
  for (std::size_t i = 0; i < layout.tensors(); ++i) {
    arrays.push_back(to_array(layout.slots()[i].name, layout.view(impl_->driver->global(), i)));
  }
  const auto& names = impl_->driver->buffer_names();
  for (std::size_t i = 0; i < names.size(); ++i) {
    arrays.push_back(to_array(names[i].name, impl_->driver->buffers()[i]));
  }
  return arrays;
}

}  // namespace fedvg
