#pragma once

#include <ATen/ops/empty.h>
#include <ATen/ops/full.h>
#include <ATen/ops/zeros.h>

#include <atomic>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "engine/round_driver.h"
#include "fedvg/registry.h"
#include "models/network.h"

namespace fedvg::testing {

/// A correction that overwrites what local training gave: client k returns w + value(k) in
/// every number, so that a test knows each update by heart.
class Scripted final : public Correction {
 public:
  explicit Scripted(std::function<double(std::int64_t round, std::int64_t client)> value)
      : value_(std::move(value)) {}
  void end(LocalContext& context, ClientUpdate& update) const override {
    const double value = value_(context.round, context.client);
    for (std::size_t l = 0; l < context.layout->tensors(); ++l) {
      context.layout->segment(update.delta, l).fill_(value);
    }
    context.parameters.copy_(context.global.add(update.delta));
  }

 private:
  std::function<double(std::int64_t, std::int64_t)> value_;
};

/// A correction that works as the real one does, and then changes what a client sends.
class Wrapped final : public Correction {
 public:
  using AfterEnd = std::function<void(LocalContext&, ClientUpdate&)>;
  Wrapped(std::unique_ptr<Correction> real, AfterEnd after_end)
      : real_(std::move(real)), after_end_(std::move(after_end)) {}

  void check(const LocalOptimizer& optimizer, bool kept) const override {
    real_->check(optimizer, kept);
  }
  bool needs_weights() const override { return real_->needs_weights(); }
  void begin(LocalContext& context) const override { real_->begin(context); }
  at::Tensor loss(LocalContext& context, const Batch& batch, const Output& output,
                  at::Tensor base) const override {
    return real_->loss(context, batch, output, std::move(base));
  }
  void grad(LocalContext& context) const override { real_->grad(context); }
  void end(LocalContext& context, ClientUpdate& update) const override {
    real_->end(context, update);
    after_end_(context, update);
  }
  TensorMap broadcast() const override { return real_->broadcast(); }
  Column factor(const ClientUpdate& update) const override { return real_->factor(update); }
  void accept(const ClientUpdate& update) override { real_->accept(update); }
  Column columns(const Round& round, const std::vector<Column>& weights) const override {
    return real_->columns(round, weights);
  }
  void after_step(const Round& round, at::Tensor& w) override { real_->after_step(round, w); }
  void abandon(const Round& round) override { real_->abandon(round); }
  TensorMap state() const override { return real_->state(); }
  void restore(const TensorMap& state) override { real_->restore(state); }

 private:
  std::unique_ptr<Correction> real_;
  AfterEnd after_end_;
};

struct ToyOptions {
  std::vector<std::int64_t> sizes = {10, 20, 30};  ///< samples of each client
  std::int64_t features = 4, classes = 3, validation = 12, validation_batch = 4;
  Part correction{"none", {}}, weighting{"size", {}}, server{"sgd", {}};
  Part optimizer{"sgd", {}};
  std::unique_ptr<Correction> scripted;  ///< instead of `correction`
  Wrapped::AfterEnd after_end;           ///< changes what a client sends; see Wrapped
  bool batch_norm = false;  ///< 4x4 images through a convolution with BatchNorm instead
  std::int64_t epochs = 2, steps = 0, batch_size = 8;
  std::size_t workers = 2, window = 4;
  at::ScalarType dtype = at::kDouble;
  std::uint64_t seed = 7;
  std::function<void(std::int64_t)> before_training;
  std::function<void(DriverSetup&)> adjust;  ///< has the last word on the setup

  void use(const Method& method) {
    correction = method.correction;
    weighting = method.weighting;
    server = method.server;
  }
};

/// A small federation of random samples with everything in reach.
struct ToyFederation {
  std::unique_ptr<TensorStore> store;
  std::unique_ptr<RoundDriver> driver;
  Correction* correction = nullptr;  ///< the driver's
  std::atomic<bool> stop = false;

  explicit ToyFederation(ToyOptions options);

  RoundRecord round(std::int64_t index, const std::vector<std::int64_t>& cohort) {
    return driver->run_round(index, cohort, stop);
  }
  std::vector<double> model() const {
    const at::Tensor w = driver->global().to(at::kDouble).contiguous();
    return {w.data_ptr<double>(), w.data_ptr<double>() + w.numel()};
  }
  /// The model and its buffers.
  std::vector<double> everything() const {
    std::vector<double> numbers = model();
    for (const auto& buffer : driver->buffers()) {
      const at::Tensor values = buffer.to(at::kDouble).contiguous();
      numbers.insert(numbers.end(), values.data_ptr<double>(),
                     values.data_ptr<double>() + values.numel());
    }
    return numbers;
  }
};

inline ToyFederation::ToyFederation(ToyOptions options) {
  std::int64_t total = options.validation;
  for (const auto size : options.sizes) total += size;
  Random random(options.seed, "toy-samples");
  const std::vector<std::int64_t> shape = options.batch_norm
                                              ? std::vector<std::int64_t>{total, 1, 4, 4}
                                              : std::vector<std::int64_t>{total, options.features};
  at::Tensor x = at::empty(shape, at::kDouble), y = at::empty({total}, at::kLong);
  for (std::int64_t i = 0; i < x.numel(); ++i) x.data_ptr<double>()[i] = random.normal();
  for (std::int64_t i = 0; i < total; ++i) {
    y.data_ptr<std::int64_t>()[i] =
        static_cast<std::int64_t>(random.below(static_cast<std::uint64_t>(options.classes)));
  }
  store = std::make_unique<TensorStore>(x.to(options.dtype), y);

  DriverSetup setup;
  const auto features = options.features, classes = options.classes;
  const bool batch_norm = options.batch_norm;
  setup.build_model = [=]() -> std::unique_ptr<Model> {
    auto network = std::make_unique<Network>();
    if (batch_norm) {
      network->conv2d("conv", 1, 3, 3).batch_norm("bn", 3).relu().global_avg_pool();
      network->linear("head", 3, classes);
    } else {
      network->linear("base.0", features, 5).tanh().linear("head", 5, classes);
    }
    return network;
  };
  setup.build_optimizer = [part = options.optimizer] {
    return Registry<LocalOptimizer>::instance().make(part);
  };
  setup.correction = options.scripted ? std::move(options.scripted)
                                      : Registry<Correction>::instance().make(options.correction);
  if (options.after_end) {
    setup.correction = std::make_unique<Wrapped>(std::move(setup.correction), options.after_end);
  }
  correction = setup.correction.get();
  setup.weighting = Registry<WeightingRule>::instance().make(options.weighting);
  setup.server = Registry<ServerOptimizer>::instance().make(options.server);
  std::int64_t next = 0;
  for (const auto size : options.sizes) {
    LocalData& client = setup.clients.emplace_back();
    client.store = store.get();
    for (std::int64_t i = 0; i < size; ++i) client.samples.push_back(next++);
  }
  if (options.validation > 0) {
    std::vector<std::int64_t> ids;
    for (std::int64_t i = 0; i < options.validation; ++i) ids.push_back(next++);
    setup.validation = {store.get(), cut(ids, options.validation_batch, true),
                        Mode::batch_statistics};
  }
  setup.rules = {.epochs = options.epochs,
                 .steps = options.steps,
                 .batch_size = options.batch_size,
                 .seed = options.seed};
  setup.workers = options.workers;
  setup.window = options.window;
  setup.format.dtype = options.dtype;
  setup.before_training = options.before_training;
  if (options.adjust) options.adjust(setup);
  driver = std::make_unique<RoundDriver>(std::move(setup));
}

/// A part with one numeric, text or boolean option, for short tests.
inline Part part(std::string name,
                 std::initializer_list<std::pair<const char*, Value>> options = {}) {
  Part result{std::move(name), {}};
  for (const auto& [key, value] : options) result.options.set(key, value);
  return result;
}

}  // namespace fedvg::testing
