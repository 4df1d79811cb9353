#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "data/data_options.h"
#include "data/federated_data.h"
#include "data/foreign_set.h"
#include "data/wrong_setting.h"
#include "fedvg/partition.h"

namespace fedvg {

/// What of [validation] belongs to another source than the chosen one, or is missing for it.
std::vector<WrongSetting> wrong_settings(const ValidationOptions& options);

/// Settles D_val: from `drawn` (validation.source = "holdout"), from what the partition
/// brings, from the data set's own validation part, which is moved, or from another data
/// set; then validation.imbalance and validation.size. Samples of a drawn one leave the
/// clients. Sets held_out, validation and validation_set of `data`, and says in its notes
/// where D_val is from and what it lacks. Throws OptionError or DataError when there is no
/// such set, it does not fit, or nothing is left of it. `columns` are for another data set.
void settle_validation(FederatedData& data, Partition& partition, const IndexList& drawn,
                       const ValidationOptions& options, std::uint64_t seed,
                       const ForeignColumns& columns = {});

/// validation.noise: validation_set becomes a noisy copy of D_val alone, whatever the source,
/// so that the clients' images stay as they are. Nothing for 0 or without D_val.
void add_validation_noise(FederatedData& data, const ValidationOptions& options,
                          std::uint64_t seed);

/// Foreign samples in the form of the training samples: resized to their size, gray images
/// repeated to three channels, each said in `notes`. Throws DataError naming `path` when
/// they cannot have it.
Samples in_form_of(const Samples& training, Samples foreign, const std::string& path,
                   std::vector<std::string>& notes);

}  // namespace fedvg
