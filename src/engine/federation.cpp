#include "engine/federation.h"

#include "engine/assembly.h"
#include "engine/global_model.h"

namespace fedvg {

struct Federation::Impl : Assembly {
  Evaluation evaluate(DataPart part, const std::atomic<bool>& stop) const {
    const SampleStore& store = samples.store(part);
    const auto& ids = samples.ids(part);
    return line == Line::local ? driver->evaluate_own_models(store, ids, stop)
                               : driver->evaluate(store, ids, stop);
  }
};

Federation::Federation(const FederatedData& data, FederationSetup setup)
    : impl_(new Impl{assemble(data, std::move(setup))}) {}

Federation::~Federation() = default;

const FederationInfo& Federation::info() const { return impl_->info; }

RoundRecord Federation::run_round(std::int64_t round, const std::vector<std::int64_t>& cohort,
                                  const std::atomic<bool>& stop,
                                  const std::function<void(Progress)>& progress) {
  const bool pooled = impl_->line == Line::centralized;
  return impl_->driver->run_round(round, pooled ? std::vector<std::int64_t>{0} : cohort, stop,
                                  progress);
}

Evaluation Federation::evaluate_test(const std::atomic<bool>& stop) {
  return impl_->evaluate(DataPart::test, stop);
}

std::optional<Evaluation> Federation::evaluate_validation(const std::atomic<bool>& stop) {
  if (impl_->samples.validation_ids.empty()) return std::nullopt;
  return impl_->evaluate(DataPart::validation, stop);
}

ClientFigures Federation::evaluate_clients(const std::atomic<bool>& stop) {
  return impl_->driver->evaluate_clients(*impl_->samples.training, *impl_->samples.clients, stop);
}

std::optional<Evaluation> Federation::evaluate(DataPart part, Predictions& predictions,
                                               const std::atomic<bool>& stop) {
  const auto& ids = part_samples(part);
  if (ids.empty()) return std::nullopt;
  return impl_->driver->evaluate(impl_->samples.store(part), ids, stop, &predictions);
}

const std::vector<std::int64_t>& Federation::part_samples(DataPart part) const {
  return impl_->samples.ids(part);
}

std::vector<NamedArray> Federation::model() const { return global_model(*impl_->driver); }

void Federation::load_model(const std::vector<NamedArray>& arrays) {
  load_global_model(arrays, /*head=*/"", *impl_->driver);
}

FederationState Federation::save() { return impl_->driver->save(); }

void Federation::restore(const FederationState& state) { impl_->driver->restore(state); }

void Federation::forget_client_states() { impl_->driver->forget_client_states(); }

void Federation::keep_client_states(const std::vector<ClientVersion>& named) {
  impl_->driver->keep_client_states(named);
}

}  // namespace fedvg
