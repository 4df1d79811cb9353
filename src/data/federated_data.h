#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "data/data_options.h"
#include "fedvg/dataset.h"
#include "fedvg/partition.h"

namespace fedvg {

/// A data set divided between clients, D_val and the test set. Clients are positions in
/// dataset.training, disjoint (unless a file's may overlap), and no client holds a sample of
/// D_val or of the test set.
struct FederatedData {
  Dataset dataset;                 ///< its training part after data.take; pooled: all of it
  std::vector<IndexList> clients;  ///< [N]; some may be empty, not all
  IndexList validation;            ///< D_val: positions in validation_samples(); empty: none
  /// What D_val was chosen from by validation.imbalance and validation.size: positions in
  /// dataset.training that no client has; empty when D_val is not from there.
  IndexList held_out;
  /// D_val's own samples where they are not dataset.training's: the publisher's validation
  /// part, another data set, or a noisy copy.
  std::optional<Samples> validation_set;
  IndexList test;               ///< positions in test_samples()
  bool pooled = false;          ///< data.split = "pooled": the test samples lie in dataset.training
  std::vector<bool> corrupted;  ///< [N]; empty: nobody is (data/corruption.h)
  std::vector<std::string> client_names;  ///< [N]; empty: they have only numbers

  const Samples& validation_samples() const {
    return validation_set ? *validation_set : dataset.training;
  }
  const Samples& test_samples() const { return pooled ? dataset.training : dataset.test; }

  std::vector<std::vector<std::int64_t>> counts;  ///< samples, [client][class]
  DataIdentity identity;                          ///< of dataset.training
  std::string source;                             ///< what the partition was drawn from
  std::vector<std::string> notes;                 ///< to be said at start
};

/// What a caller that waits for the data brings: ReadRequest's members of these names.
struct DataLoading {
  std::string cache_folder = {};
  std::function<void(std::int64_t done, std::int64_t total)> progress = {};
};

/// Reads the data set, holds out D_val, divides the rest, and verifies the result. D_val is
/// drawn before the partition and from a stream of its own, so neither depends on the
/// method, and D_val not on the scheme. A partition file's own "validation" is D_val when
/// validation.source is "holdout"; without one the samples of the drawn D_val leave the
/// file's clients. data.split = "pooled": data/pooled.h; there it is the clients that give their
/// samples to D_val and the test set.
///
/// `clients_given`: partition.clients where the user wrote it; where clients are given, by a
/// partition file or by nature, it must be their number. Throws OptionError (settings that cannot
/// be met) or DataError (files that do not fit; no client has a sample).
FederatedData load_federated_data(const DataOptions& data, const PartitionOptions& partition,
                                  const ValidationOptions& validation, std::uint64_t seed,
                                  std::optional<std::int64_t> clients_given = std::nullopt,
                                  const DataLoading& loading = {});

/// partition.json: `partition.scheme = "file"` reads it back to the same clients, D_val and
/// test set.
std::string partition_json(const FederatedData& data);
/// Throws RunError when the file cannot be written.
void write_partition_json(const FederatedData& data, const std::filesystem::path& path);

}  // namespace fedvg
