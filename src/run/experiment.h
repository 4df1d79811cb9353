#pragma once

#include <string>
#include <vector>

#include "data/cohorts.h"
#include "data/federated_data.h"
#include "engine/federation.h"
#include "run/configuration.h"

namespace fedvg {

/// A configuration made real: data read and divided, participants settled, workers and
/// models ready. Nothing has been written.
class Experiment {
 public:
  /// `device`: "cpu" or "cuda:N". Throws OptionError, DataError or RunError: what the
  /// settings alone did not show.
  /// `state_folder`: where clients' states wait beyond engine.state_memory, made when first
  /// needed; empty: a temporary folder. `loading`: while the data are read.
  Experiment(Configuration configuration, const std::string& device,
             const std::string& state_folder = {}, const DataLoading& loading = {});
  Experiment(const Experiment&) = delete;
  Experiment& operator=(const Experiment&) = delete;

  const Configuration& configuration() const { return configuration_; }
  const FederatedData& data() const { return data_; }
  const Cohorts& cohorts() const { return cohorts_; }
  Federation& federation() { return federation_; }
  const Federation& federation() const { return federation_; }
  /// Everything that is to be said at start.
  std::vector<std::string> notes() const;

 private:
  Configuration configuration_;
  FederatedData data_;
  Cohorts cohorts_;
  Federation federation_;
};

/// Samples of each client.
std::vector<std::int64_t> client_sizes(const FederatedData& data);

}  // namespace fedvg
