#pragma once

#include <vector>

namespace fedvg {

/// Cores that this process may run on (its affinity mask), in order; all of the machine where the
/// system does not say. Never empty.
std::vector<int> allowed_cores();

}  // namespace fedvg
