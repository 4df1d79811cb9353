#pragma once

#include <string>
#include <vector>

#include "speed/measurement.h"

namespace fedvg {

/// What was measured where, one line each, then a table with a line for each phase. A figure
/// that there is not is "-".
std::vector<std::string> speed_lines(const SpeedMeasurement& measurement);

/// The same as one JSON object, unrounded. A figure that there is not is null.
std::string speed_json(const SpeedMeasurement& measurement);

}  // namespace fedvg
