#include "data/federated_data.h"

#include <algorithm>
#include <cstddef>
#include <fstream>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "data/balanced.h"
#include "data/choice.h"
#include "data/class_counts.h"
#include "data/fingerprint.h"
#include "data/index_lists.h"
#include "data/partition_file.h"
#include "data/pooled.h"
#include "data/shared_images.h"
#include "data/test_holdout.h"
#include "data/validation.h"
#include "data/validation_set.h"
#include "data/wording.h"
#include "fedvg/error.h"
#include "fedvg/registry.h"

namespace fedvg {
namespace {

std::int64_t classes(const Dataset& dataset) {
  return static_cast<std::int64_t>(dataset.classes.size());
}

// Names in the option `key` of the reader, which few have; empty without.
std::vector<std::string> names_in(const Part& reader, const char* key) {
  std::vector<std::string> names;
  const Value* value = reader.options.find(key);
  if (const Array* array = value ? value->get<Array>() : nullptr) {
    for (const Value& item : *array) {
      if (const auto* name = item.get<std::string>()) names.push_back(*name);
    }
  }
  return names;
}

// A partition file does without owners, so that data.ignore may name their column as well.
Part reader_for(const DataOptions& options, const Part& scheme, const std::string& owner_column) {
  Part reader = options.name;
  auto ignored = names_in(reader, "ignore");
  if (scheme.name == "file" && std::erase(ignored, owner_column) > 0) {
    reader.options.set("ignore", Array(ignored.begin(), ignored.end()));
  }
  return reader;
}

// What the data set's own columns say of those of another.
ForeignColumns foreign_columns(const DataOptions& options, const std::string& owner_column) {
  ForeignColumns columns;
  if (const Value* label = options.name.options.find("label")) {
    if (const auto* name = label->get<std::string>()) columns.label = *name;
  }
  columns.left_out = names_in(options.name, "ignore");
  if (!owner_column.empty()) columns.left_out.push_back(owner_column);
  return columns;
}

Dataset read_dataset(const DataOptions& options, const Part& scheme, const Partitioner& partitioner,
                     std::uint64_t seed, const DataLoading& loading) {
  const ReadRequest request{.owner_column = partitioner.owner_column(),
                            .resize = options.resize,
                            .test_ratio = options.test_ratio,
                            .seed = seed,
                            .cache_folder = loading.cache_folder,
                            .progress = loading.progress};
  const Part reader = reader_for(options, scheme, request.owner_column);
  Dataset dataset = Registry<DatasetReader>::instance().make(reader)->read(request);
  Samples& training = dataset.training;
  if (options.take > training.size()) {
    throw OptionError("data.take = " + std::to_string(options.take) + " is more than the " +
                      std::to_string(training.size()) + " training samples in " + dataset.source);
  }
  if (options.take > 0) {
    training.labels.resize(static_cast<std::size_t>(options.take));
    training.pixels.resize(static_cast<std::size_t>(options.take * training.image_bytes()));
    if (!training.owners.empty()) training.owners.resize(training.labels.size());
  }
  return dataset;
}

// "dirichlet, alpha = 0.1, clients = 100, min_samples = 10, on_short = repair, seed 1"
std::string described(const PartitionRequest& request, const Part& scheme, bool drawn,
                      std::int64_t balanced) {
  std::string text = scheme.name;
  for (const auto& [key, value] : scheme.options.entries()) {
    if (value == Value("")) continue;  // not given
    text += ", " + key + " = " + value.text();
  }
  if (!drawn) return text;
  text += ", clients = " + std::to_string(request.clients);
  if (balanced > 0) text += ", balanced = " + std::to_string(balanced);
  return text + ", min_samples = " + std::to_string(request.min_samples) +
         ", on_short = " + (request.refuse_short ? "refuse" : "repair") + ", seed " +
         std::to_string(request.seed);
}

// Labels that count from 1, or a stray one far above the others: they are no fault of the file.
// Nor are those that data.take leaves out of a set in the order of its classes.
void note_absent_classes(FederatedData& data, std::int64_t take) {
  const auto& names = data.dataset.classes;
  std::vector<bool> present(names.size());
  for (const std::int64_t label : data.dataset.training.labels) {
    present[static_cast<std::size_t>(label)] = true;
  }
  std::vector<std::string> absent;
  for (std::size_t c = 0; c < names.size(); ++c) {
    if (!present[c]) absent.push_back(names[c]);
  }
  if (absent.empty()) return;
  data.notes.push_back("the training set has no sample of " + std::to_string(absent.size()) +
                       " of " + std::to_string(names.size()) + " classes (" + some_of(absent) +
                       ")" +
                       (take == 0 ? ""
                                  : ": data.take = " + std::to_string(take) +
                                        " takes the first samples, whatever their classes") +
                       "; the model has an output for each");
}

void note_empty_clients(FederatedData& data, std::int64_t held_out) {
  const auto empty = std::count_if(data.clients.begin(), data.clients.end(),
                                   [](const IndexList& client) { return client.empty(); });
  if (empty == std::ssize(data.clients)) {
    throw DataError("no client has a sample: all " + std::to_string(data.clients.size()) +
                    " are empty (" + data.source + ")" +
                    (held_out == 0 ? ""
                                   : "; validation.ratio holds " + std::to_string(held_out) +
                                         " of the " + std::to_string(data.dataset.training.size()) +
                                         " training samples out"));
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
                                  std::optional<std::int64_t> clients_given,
                                  const DataLoading& loading) {
  refuse_wrong(wrong_settings(validation_options));
  const Part scheme = resolved_part(Partitioner::kind, partition_options.scheme);
  const auto partitioner = Registry<Partitioner>::instance().make(scheme);
  FederatedData data;
  data.notes = check_split(data_options, validation_options);
  data.pooled = data_options.split == "pooled";
  data.dataset = read_dataset(data_options, scheme, *partitioner, seed, loading);
  if (data.pooled) remove_holdout_note(data.dataset.notes);
  data.notes.insert(data.notes.end(), data.dataset.notes.begin(), data.dataset.notes.end());
  if (data.pooled) pool_test_set(data.dataset);
  note_absent_classes(data, data_options.take);
  const Samples& training = data.dataset.training;
  const auto hashes = image_hashes(training);
  data.identity = {data.dataset.name, training.size(), fingerprint(training, hashes)};

  IndexList drawn;
  if (!data.pooled && validation_options.source == "holdout") {
    drawn = held_out(validation_options, training.labels, classes(data.dataset), seed);
  }
  const std::int64_t drawn_samples = std::ssize(drawn);
  const PartitionRequest request{.labels = training.labels,
                                 .owners = training.owners,
                                 .classes = classes(data.dataset),
                                 .available = all_but(training.size(), drawn),
                                 .data = data.identity,
                                 .clients = partition_options.clients,
                                 .min_samples = partition_options.min_samples,
                                 .refuse_short = partition_options.on_short == "refuse",
                                 .overlap = partition_options.overlap,
                                 .seed = seed};
  Partition partition = draw_partition(*partitioner, request, partition_options.balanced);
  data.clients = std::move(partition.clients);
  data.client_names = std::move(partition.names);
  data.source = described(request, scheme, partitioner->drawn(), partition_options.balanced);
  if (data.pooled) data.source += ", training and test set pooled";
  data.notes.insert(data.notes.end(), partition.notes.begin(), partition.notes.end());
  if (clients_given && *clients_given != std::ssize(data.clients)) {
    throw OptionError("partition.clients = " + std::to_string(*clients_given) + ", but " +
                      data.source + " has " + std::to_string(data.clients.size()) + " clients");
  }
  settle_test(data, partition, data_options, validation_options, drawn, seed);
  settle_validation(data, partition, drawn, validation_options, seed,
                    foreign_columns(data_options, partitioner->owner_column()));
  check_disjoint(data.clients, data.held_out, data.pooled ? data.test : IndexList{},
                 training.size(), partition_options.overlap, "partition (" + data.source + ")");
  for (const auto& client : data.clients) {
    data.counts.push_back(class_counts(client, training.labels, data.dataset.classes.size()));
  }
  note_empty_clients(data, partition.validation ? 0 : drawn_samples);
  auto shared = shared_images(data, hashes);
  if (!shared.empty()) data.notes.push_back(std::move(shared));
  add_validation_noise(data, validation_options, seed);
  return data;
}

std::string partition_json(const FederatedData& data) {
  return partition_file_text(data.clients, data.held_out, data.counts, data.source, data.identity,
                             data.pooled ? std::optional(data.test) : std::nullopt);
}

void write_partition_json(const FederatedData& data, const std::filesystem::path& path) {
  std::ofstream file(path, std::ios::binary | std::ios::trunc);
  file << partition_json(data);
  file.close();
  if (!file) throw RunError(path.string() + " cannot be written");
}

}  // namespace fedvg
