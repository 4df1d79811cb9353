#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "data/data_options.h"
#include "fedvg/dataset.h"
#include "fedvg/partition.h"

namespace fedvg {

/// A data set divided between clients, D_val and the test set. Lists are positions in
/// dataset.training; clients are disjoint (unless a file's may overlap), and no client
/// holds a sample of `validation`.
struct FederatedData {
  Dataset dataset;                                ///< its training part after data.take
  std::vector<IndexList> clients;                 ///< [N]; some may be empty, not all
  IndexList validation;                           ///< D_val; empty: there is none
  std::vector<std::vector<std::int64_t>> counts;  ///< samples, [client][class]
  DataIdentity identity;                          ///< of dataset.training
  std::string source;                             ///< what the partition was drawn from
  std::vector<std::string> notes;                 ///< to be said at start
};

/// Reads the data set, holds out D_val, divides the rest, and verifies the result. D_val is
/// drawn before the partition and from a stream of its own, so neither depends on the
/// method, and D_val not on the scheme. A partition file's own "validation" is D_val when
/// validation.source is "holdout"; without one the samples of the drawn D_val leave the
/// file's clients.
///
/// `clients_given`: partition.clients where the user wrote it; beside a partition file it
/// must be the file's number. Throws OptionError (settings that cannot be met) or DataError
/// (files that do not fit; no client has a sample).
FederatedData load_federated_data(const DataOptions& data, const PartitionOptions& partition,
                                  const ValidationOptions& validation, std::uint64_t seed,
                                  std::optional<std::int64_t> clients_given = std::nullopt);

/// partition.json: `partition.scheme = "file"` reads it back to the same clients and D_val.
std::string partition_json(const FederatedData& data);
/// Throws RunError when the file cannot be written.
void write_partition_json(const FederatedData& data, const std::filesystem::path& path);

}  // namespace fedvg
