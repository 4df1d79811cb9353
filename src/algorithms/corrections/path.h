#pragma once

#include <string>

#include "fedvg/error.h"
#include "fedvg/local_optimizer.h"

namespace fedvg {

/// LocalOptimizer::path_length counts from a standstill. Throws OptionError for an optimizer
/// that gathers speed when it goes on from the client's last round.
inline void refuse_kept_velocity(const LocalOptimizer& optimizer, const std::string& correction) {
  const auto one = optimizer.path_length(1), two = optimizer.path_length(2);
  if (!one || !two || *two == 2 * *one) return;
  throw OptionError("correction " + correction +
                    ": the length of the local path is not known when momentum goes on from the "
                    "client's last round; take train.optimizer_state = \"reset\"");
}

}  // namespace fedvg
