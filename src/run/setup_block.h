#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "run/experiment.h"

namespace fedvg {

/// What a run is about to do, one aligned line each: data set, clients, how many of
/// them are corrupted where any are to be, D_val, model, method, training, engine, folder.
std::vector<std::string> setup_block(const Experiment& experiment,
                                     const std::filesystem::path& folder);

/// "2 workers on cpu, float32, channels_last, kernels avx512, live taps 4.2 of 11.2 M weights"
std::string engine_text(const FederationInfo& info);

/// "data         fashion-mnist": a topic in a column of its own. Also of the summary.
std::string topic_line(const std::string& topic, const std::string& text);

}  // namespace fedvg
