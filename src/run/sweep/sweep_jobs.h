#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace fedvg {

/// What decides how many runs of a sweep go on at once.
struct JobsWish {
  std::int64_t runs = 0;     ///< that are to be done, >= 1
  std::int64_t jobs = 0;     ///< --jobs; 0: to be chosen
  std::int64_t workers = 0;  ///< of a run, as configured; 0: as many as it has cores
  std::int64_t threads = 1;  ///< of a worker
  bool on_cpu = true;        ///< else the runs share one device
};

/// The cores of each run that goes on at a time.
using Jobs = std::vector<std::vector<int>>;

/// Divides the cores among the runs that go on at once: as many as asked for; else as many as fit
/// with the configured workers, or with one worker each, where so many runs are left, and one
/// after another with all cores where fewer are, or on a device. Never more than runs. Each
/// gets neighbouring cores of its own; where there are more jobs than cores, they share them.
Jobs divide_cores(const std::vector<int>& cores, const JobsWish& wish);

/// "2 at a time, 1 core each", "one after another"
std::string jobs_text(const Jobs& jobs);

}  // namespace fedvg
