#pragma once

#include <atomic>

namespace fedvg {

/// While one lives, the first SIGINT, SIGTERM or SIGHUP (a closed terminal) only sets
/// requested(), and a second one ends the process at once with exit code 130; but for SIGHUP,
/// which shell and system may both send. A signal that the process was told to ignore when it
/// started (nohup) stays ignored. At most one at a time.
class StopSignals {
 public:
  StopSignals();
  ~StopSignals();
  StopSignals(const StopSignals&) = delete;
  StopSignals& operator=(const StopSignals&) = delete;

  const std::atomic<bool>& requested() const;
};

}  // namespace fedvg
