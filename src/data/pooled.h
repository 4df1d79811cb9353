#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "data/federated_data.h"

namespace fedvg {

/// data.split = "pooled": the samples of the test set follow those of the training set, whose
/// test part is then empty. Throws DataError when the two do not belong together.
void pool_test_set(Dataset& dataset);

/// What clients give the server, ascending.
struct GivenSamples {
  IndexList test, validation;
};

/// Each client k gives floor(test_ratio * n_k) of its n_k samples, then floor(validation_ratio *
/// n_k) others, in the order of Random(seed, "pooled", 0, k); a ratio may be 0. What they keep
/// stays in their order. A sample that several clients hold is given once, and kept by none.
/// `samples`: of the pooled set.
GivenSamples take_from_clients(std::vector<IndexList>& clients, double test_ratio,
                               double validation_ratio, std::int64_t samples, std::uint64_t seed);

/// Settles data.test: all of the test set; or, when pooled, what a partition file brings or
/// else what the clients give. `drawn` becomes what they give to D_val: they do when D_val is
/// held out and no file brings it. Notes say how much. Throws DataError (a file's test set that
/// is empty or was not asked for) or OptionError (nobody gives a sample).
void settle_test(FederatedData& data, const Partition& partition, const DataOptions& options,
                 const ValidationOptions& validation, IndexList& drawn, std::uint64_t seed);

/// Refuses val_ratio + test_ratio >= 1, and says which of the settings that belong to the other
/// data.split were changed for nothing.
std::vector<std::string> check_split(const DataOptions& options,
                                     const ValidationOptions& validation);

}  // namespace fedvg
