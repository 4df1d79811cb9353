#pragma once

#include <string>

#include "fedvg/error.h"
#include "fedvg/local_optimizer.h"

namespace fedvg {

/// For a correction that divides by LocalOptimizer::path_length, which counts from a
/// standstill: throws OptionError for an optimizer that has no such length, and for one
/// that gathers speed when it goes on from the client's last round (`kept`). `use` says
/// what the length is for.
inline void require_path_length(const LocalOptimizer& optimizer, bool kept,
                                const std::string& correction, const std::string& use) {
  const auto one = optimizer.path_length(1), two = optimizer.path_length(2);
  if (kept && one && two && *two != 2 * *one) {
    throw OptionError("correction " + correction +
                      ": the length of the local path is not known when momentum goes on from the "
                      "client's last round; take train.optimizer_state = \"reset\"");
  }
  if (one) return;
  throw OptionError("correction " + correction + ": " + use +
                    ", which this train.optimizer does not have; take train.optimizer.name = "
                    "\"sgd\"");
}

}  // namespace fedvg
