#pragma once

#include <atomic>
#include <cstdint>
#include <string>

#include "run/console.h"
#include "run/sweep/sweep_folder.h"
#include "run/sweep/sweep_plan.h"

namespace fedvg {

struct SweepRequest {
  std::int64_t jobs = 0;  ///< runs at a time; 0: see divide_cores()
  std::string device = "cpu";
};

/// Carries out what is not finished: each run is `fedvg run --resume` in a process of its own,
/// this program again, on cores of its own. A line when one starts and when one ends; at the end
/// what became of all. A run that fails, is killed or crashes does not stop the others.
///
/// The first `stop` goes to all that run, which leave their checkpoints, and then throws
/// Interrupted. Throws RunError when a run failed.
void run_sweep(const SweepPlan& plan, SweepFolder& folder, const SweepRequest& request,
               Console& console, const std::atomic<bool>& stop);

/// The folder of each run, how far it is, or why what is there would be refused, and what it sets,
/// one line each.
std::vector<std::string> sweep_lines(const SweepPlan& plan, const std::filesystem::path& folder);

}  // namespace fedvg
