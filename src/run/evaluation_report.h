#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "engine/metrics.h"

namespace fedvg {

/// A model's figures for people, a line each, then a table of its classes: samples and recall.
/// "-": not defined on this data. `classes`: their names.
std::string evaluation_text(const Evaluation& evaluation, const std::vector<std::string>& classes);

/// The whole of a predictions file: sample (its position in the data set's part), true class,
/// predicted class, and that class's probability. `samples` is as long as `predictions`.
std::string predictions_table(const std::vector<std::int64_t>& samples,
                              const Predictions& predictions,
                              const std::vector<std::string>& classes);

}  // namespace fedvg
