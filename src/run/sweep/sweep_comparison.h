#pragma once

#include <filesystem>
#include <string>

#include "run/sweep/sweep_plan.h"

namespace fedvg {

/// "fedvg compare OUT --rows method --columns partition.alpha": the table that shows the sweep.
/// Keys that vary are rows, the first one beside the method columns. Without --rows where a key
/// stands for several settings.
std::string compare_command(const SweepPlan& plan, const std::filesystem::path& folder);

}  // namespace fedvg
