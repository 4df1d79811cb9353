#pragma once

#include <string>

#include "data/federated_data.h"

namespace fedvg {

/// Samples by client and class: the classes' names, then one aligned line each client,
/// D_val, and the sum of all clients.
std::string partition_table(const FederatedData& data);

}  // namespace fedvg
