#pragma once

#include <map>
#include <string>

#include "run/experiment.h"

namespace fedvg {

/// Hashes of what a run reads beside its settings, by what people call it: samples, and the files
/// that the configuration names.
std::map<std::string, std::string> hashes_of_inputs(const Experiment& experiment);

}  // namespace fedvg
