#include "engine/federation_samples.h"

#include <algorithm>

#include "data/choice.h"
#include "data/stratify.h"
#include "engine/validation_budget.h"

namespace fedvg {
namespace {

/// Each once, rising.
IndexList samples_of_all(const std::vector<IndexList>& clients) {
  IndexList all;
  for (const auto& client : clients) all.insert(all.end(), client.begin(), client.end());
  std::sort(all.begin(), all.end());
  all.erase(std::unique(all.begin(), all.end()), all.end());
  return all;
}

}  // namespace

const SampleStore& FederationSamples::store(DataPart part) const {
  return part == DataPart::test ? *test : part == DataPart::validation ? *validation : *training;
}

const std::vector<std::int64_t>& FederationSamples::ids(DataPart part) const {
  return part == DataPart::test         ? test_ids
         : part == DataPart::validation ? validation_ids
                                        : training_ids;
}

FederationSamples samples_of(const FederatedData& data, const ImageFormat& format,
                             const ChannelStatistics& statistics) {
  FederationSamples samples;
  samples.training = make_store(data.dataset.training, format, statistics);
  if (!data.pooled) samples.own_test = make_store(data.dataset.test, format, statistics);
  samples.test = data.pooled ? samples.training.get() : samples.own_test.get();
  if (data.validation_set) {
    samples.own_validation = make_store(*data.validation_set, format, statistics);
  }
  samples.validation = data.validation_set ? samples.own_validation.get() : samples.training.get();
  samples.training_ids = samples_of_all(data.clients);
  samples.test_ids = data.test;
  samples.validation_ids = data.validation;
  samples.clients = &data.clients;
  return samples;
}

IndexList training_part(const FederatedData& data) {
  if (!data.pooled) return all_positions(data.dataset.training.size());
  IndexList test = data.test;
  std::sort(test.begin(), test.end());
  return all_but(data.dataset.training.size(), test);
}

std::vector<LocalData> local_data_of(const FederatedData& data, const SampleStore& training,
                                     bool as_one) {
  std::vector<LocalData> clients;
  for (const auto& samples : data.clients) {
    if (!as_one || clients.empty()) clients.push_back({.store = &training});
    auto& own = clients.back().samples;
    own.insert(own.end(), samples.begin(), samples.end());
  }
  return clients;
}

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

}  // namespace fedvg
