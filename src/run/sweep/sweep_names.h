#pragma once

#include <string>
#include <utility>
#include <vector>

#include "fedvg/value.h"

namespace fedvg {

/// What a run of a sweep sets, by dotted key.
using SweepSettings = std::vector<std::pair<std::string, Value>>;

/// A folder's name for each run: "fedvg-alpha0.1-s1". It is made of the settings named by `keys`,
/// in that order, so that it does not change when another key gets more values: the last part of
/// the key (more where two end alike) and the value; of a part's name (method.name) the value
/// alone, of seed "s". Letters, digits and . _ + - only; what is long or odd ends in a number made
/// of the value. All are different, also where capitals do not count.
std::vector<std::string> sweep_run_names(const std::vector<SweepSettings>& runs,
                                         const std::vector<std::string>& keys);

}  // namespace fedvg
