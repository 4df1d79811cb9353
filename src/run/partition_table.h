#pragma once

#include <string>

#include "data/federated_data.h"

namespace fedvg {

/// Samples by client and class: the classes' names, then one aligned line each client,
/// D_val, the test set when pooled, and the sum of all clients. Clients by nature have their name
/// beside the number.
std::string partition_table(const FederatedData& data);

}  // namespace fedvg
