#include "run/experiment.h"

namespace fedvg {
namespace {

FederatedData load_data(Configuration& configuration, const DataLoading& loading) {
  FederatedData data =
      load_federated_data(configuration.data, configuration.partition, configuration.validation,
                          configuration.seed, configuration.clients_given, loading);
  configuration.set_clients(std::ssize(data.clients));
  corrupt_clients(data, configuration.corruption, configuration.seed);
  return data;
}

FederationSetup setup_of(const Configuration& configuration, const Cohorts& cohorts,
                         const std::string& device, const std::string& state_folder) {
  return {.seed = configuration.seed,
          .model = configuration.model,
          .initial_model = configuration.initial_model,
          .method = configuration.method,
          .train = configuration.train,
          .scoring = configuration.scoring,
          .evaluate = configuration.evaluate,
          .engine = configuration.engine,
          .device = device,
          .normalize = configuration.data.normalize,
          .augmentation = augmentation_of(configuration.data),
          .corrupted_update_factor = update_factor(configuration.corruption),
          .largest_cohort = cohorts.participants(),
          .state_folder = state_folder,
          .before_training = {}};
}

}  // namespace

Experiment::Experiment(Configuration configuration, const std::string& device,
                       const std::string& state_folder, const DataLoading& loading)
    : configuration_(std::move(configuration)),
      data_(load_data(configuration_, loading)),
      cohorts_(configuration_.cohorts, client_sizes(data_), configuration_.seed),
      federation_(data_, setup_of(configuration_, cohorts_, device, state_folder)) {}

std::vector<std::string> Experiment::notes() const {
  std::vector<std::string> all;
  for (const auto* some :
       {&configuration_.notes, &data_.notes, &cohorts_.notes(), &federation_.info().notes}) {
    all.insert(all.end(), some->begin(), some->end());
  }
  return all;
}

std::vector<std::int64_t> client_sizes(const FederatedData& data) {
  std::vector<std::int64_t> sizes;
  for (const IndexList& client : data.clients) sizes.push_back(std::ssize(client));
  return sizes;
}

}  // namespace fedvg
