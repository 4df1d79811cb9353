#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "data/federated_data.h"
#include "engine/federation.h"
#include "engine/samples.h"
#include "engine/worker.h"

namespace fedvg {

/// The samples of a federation, as batches of its model are made of them. The data must outlive
/// it.
struct FederationSamples {
  std::unique_ptr<SampleStore> training, own_test, own_validation;
  const SampleStore* test = nullptr;        ///< own_test, or training when pooled
  const SampleStore* validation = nullptr;  ///< own_validation, or training
  std::vector<std::int64_t> training_ids;   ///< of all clients, each once, rising
  std::vector<std::int64_t> test_ids, validation_ids;
  const std::vector<IndexList>* clients = nullptr;  ///< their samples, in `training`

  const SampleStore& store(DataPart part) const;
  const std::vector<std::int64_t>& ids(DataPart part) const;
};

FederationSamples samples_of(const FederatedData& data, const ImageFormat& format,
                             const ChannelStatistics& statistics);

/// All of dataset.training but the test samples that lie in it.
IndexList training_part(const FederatedData& data);

/// What clients train on; `as_one`: one client with the samples of all.
std::vector<LocalData> local_data_of(const FederatedData& data, const SampleStore& training,
                                     bool as_one);

/// The samples of D_val as they are scored on: where scoring.budget applies in a stratified
/// order, otherwise in their own; a budget that does not is noted.
IndexList scoring_order(const FederatedData& data, const FederationSetup& setup,
                        FederationInfo& info);

}  // namespace fedvg
