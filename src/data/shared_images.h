#pragma once

#include <cstdint>
#include <span>
#include <string>

#include "data/federated_data.h"

namespace fedvg {

/// Samples that are the same pixel by pixel, or feature by feature, in two parts though no sample
/// is: one line with the numbers for training (all clients), D_val (validation_samples(), before
/// noise) and test (test_samples()), or empty when there are none. A sample that several clients
/// share counts for each. `training_hashes` are image_hashes(data.dataset.training).
std::string shared_images(const FederatedData& data,
                          std::span<const std::uint64_t> training_hashes);

}  // namespace fedvg
