#include "data/federated_data.h"

#include <algorithm>
#include <cstddef>
#include <fstream>
#include <memory>
#include <utility>

#include "data/fingerprint.h"
#include "data/index_lists.h"
#include "data/partition_file.h"
#include "data/shared_images.h"
#include "data/validation.h"
#include "fedvg/error.h"
#include "fedvg/registry.h"

namespace fedvg {
namespace {

std::int64_t classes(const Dataset& dataset) {
  return static_cast<std::int64_t>(dataset.classes.size());
}

Dataset read_dataset(const DataOptions& options) {
  Dataset dataset = Registry<DatasetReader>::instance().make(options.name)->read();
  Samples& training = dataset.training;
  if (options.take > training.size()) {
    throw OptionError("data.take = " + std::to_string(options.take) + " is more than the " +
                      std::to_string(training.size()) + " training samples in " + dataset.source);
  }
  if (options.take > 0) {
    training.labels.resize(static_cast<std::size_t>(options.take));
    training.pixels.resize(static_cast<std::size_t>(options.take * training.image_bytes()));
  }
  return dataset;
}

// [0, samples) without the ascending list `without`.
IndexList all_but(std::int64_t samples, const IndexList& without) {
  IndexList rest;
  auto next = without.begin();
  for (std::int64_t i = 0; i < samples; ++i) {
    if (next != without.end() && *next == i)
      ++next;
    else
      rest.push_back(i);
  }
  return rest;
}

// "dirichlet, alpha = 0.1, clients = 100, min_samples = 10, on_short = repair, seed 1"
std::string described(const PartitionRequest& request, const Part& scheme) {
  std::string text = scheme.name;
  for (const auto& [key, value] : scheme.options.entries()) {
    text += ", " + key + " = " + value.text();
  }
  if (scheme.name == "file") return text;
  return text + ", clients = " + std::to_string(request.clients) +
         ", min_samples = " + std::to_string(request.min_samples) +
         ", on_short = " + (request.refuse_short ? "refuse" : "repair") + ", seed " +
         std::to_string(request.seed);
}

void remove_from_clients(std::vector<IndexList>& clients, const IndexList& validation,
                         std::int64_t samples) {
  std::vector<bool> held_out(static_cast<std::size_t>(samples));
  for (const std::int64_t index : validation) held_out[static_cast<std::size_t>(index)] = true;
  for (auto& client : clients) {
    std::erase_if(client, [&](std::int64_t i) { return held_out[static_cast<std::size_t>(i)]; });
  }
}

// Settles D_val between `drawn` and what the partition brings, and says where it is from.
void settle_validation(FederatedData& data, Partition& partition, const IndexList& drawn,
                       const ValidationOptions& options, std::uint64_t seed) {
  const auto& labels = data.dataset.training.labels;
  auto& notes = data.notes;
  const std::string of_training = " of the " + std::to_string(labels.size()) + " training samples";
  if (options.source == "none") {
    if (partition.validation && !partition.validation->empty()) {
      notes.push_back("validation.source = \"none\": the " +
                      std::to_string(partition.validation->size()) +
                      " validation samples of the partition file stay unused");
    }
    if (options.size > 0) {
      notes.push_back("validation.size = " + std::to_string(options.size) +
                      " has no effect with validation.source = \"none\"");
    }
    return;
  }
  IndexList pool;
  if (partition.validation) {
    pool = std::move(*partition.validation);
    if (pool.empty()) {
      throw DataError(
          "\"validation\" of the partition file is empty: set validation.source = "
          "\"none\", or remove it from the file to have D_val held out");
    }
    notes.push_back("D_val: " + std::to_string(pool.size()) + of_training +
                    ", as the partition file says");
  } else {
    pool = drawn;
    if (pool.empty()) {
      throw OptionError("validation.ratio = " + Value(options.ratio).text() + of_training +
                        " is no sample at all: raise it, or set validation.source = \"none\"");
    }
    remove_from_clients(data.clients, pool, data.dataset.training.size());
    notes.push_back("D_val: " + std::to_string(pool.size()) + of_training +
                    " held out of the training set before the partition, stratified by class");
  }
  data.validation = limited(options, pool, labels, classes(data.dataset), seed);
  if (data.validation.size() < pool.size()) {
    notes.push_back("validation.size: " + std::to_string(data.validation.size()) +
                    " of them are used, the others by nobody");
  }
  auto missing = missing_classes(data.validation, labels, data.dataset.classes);
  if (!missing.empty()) notes.push_back(std::move(missing));
}

void count_classes(FederatedData& data) {
  for (const auto& client : data.clients) {
    auto& counts = data.counts.emplace_back(data.dataset.classes.size(), 0);
    for (const std::int64_t index : client) {
      ++counts[static_cast<std::size_t>(
          data.dataset.training.labels[static_cast<std::size_t>(index)])];
    }
  }
}

void note_empty_clients(FederatedData& data) {
  const auto empty = std::count_if(data.clients.begin(), data.clients.end(),
                                   [](const IndexList& client) { return client.empty(); });
  if (empty == std::ssize(data.clients)) {
    throw DataError("no client has a sample: all " + std::to_string(data.clients.size()) +
                    " are empty (" + data.source + ")");
  }
  if (empty > 0) {
    data.notes.push_back(std::to_string(empty) + " of " + std::to_string(data.clients.size()) +
                         " clients are empty and never take part");
  }
}

}  // namespace

FederatedData load_federated_data(const DataOptions& data_options,
                                  const PartitionOptions& partition_options,
                                  const ValidationOptions& validation_options, std::uint64_t seed,
                                  std::optional<std::int64_t> clients_given) {
  const Part scheme = resolved_part(Partitioner::kind, partition_options.scheme);
  const auto partitioner = Registry<Partitioner>::instance().make(scheme);
  FederatedData data;
  data.dataset = read_dataset(data_options);
  const Samples& training = data.dataset.training;
  const auto hashes = image_hashes(training);
  data.identity = {data.dataset.name, training.size(), fingerprint(training, hashes)};

  IndexList drawn;
  if (validation_options.source != "none") {
    drawn = held_out(validation_options, training.labels, classes(data.dataset), seed);
  }
  const PartitionRequest request{.labels = training.labels,
                                 .classes = classes(data.dataset),
                                 .available = all_but(training.size(), drawn),
                                 .data = data.identity,
                                 .clients = partition_options.clients,
                                 .min_samples = partition_options.min_samples,
                                 .refuse_short = partition_options.on_short == "refuse",
                                 .overlap = partition_options.overlap,
                                 .seed = seed};
  Partition partition = partitioner->draw(request);
  data.clients = std::move(partition.clients);
  data.source = described(request, scheme);
  data.notes = std::move(partition.notes);
  if (clients_given && *clients_given != std::ssize(data.clients)) {
    throw OptionError("partition.clients = " + std::to_string(*clients_given) + ", but " +
                      data.source + " has " + std::to_string(data.clients.size()) + " clients");
  }
  settle_validation(data, partition, drawn, validation_options, seed);
  check_disjoint(data.clients, data.validation, training.size(), partition_options.overlap,
                 "partition (" + data.source + ")");
  count_classes(data);
  note_empty_clients(data);
  auto shared = shared_images(data, hashes);
  if (!shared.empty()) data.notes.push_back(std::move(shared));
  return data;
}

std::string partition_json(const FederatedData& data) {
  return partition_file_text(data.clients, data.validation, data.counts, data.source,
                             data.identity);
}

void write_partition_json(const FederatedData& data, const std::filesystem::path& path) {
  std::ofstream file(path, std::ios::binary | std::ios::trunc);
  file << partition_json(data);
  file.close();
  if (!file) throw RunError(path.string() + " cannot be written");
}

}  // namespace fedvg
