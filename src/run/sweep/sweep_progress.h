#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>

#include "run/sweep/sweep_run_state.h"

namespace fedvg {

/// How far a whole sweep is, in rounds, and how long the rest takes at the speed so far.
class SweepProgress {
 public:
  /// A run that is to be done, with the rounds that its folder has already.
  void add(const std::string& name, const std::filesystem::path& folder, std::int64_t rounds);
  /// Looks at the folder of a run that goes on.
  void look(const std::string& name);
  /// It is over, whatever it has reached: nothing of it is left.
  void close(const std::string& name);

  std::int64_t total() const { return total_; }
  std::int64_t done() const;
  /// Of rounds finished since the start in `seconds`; nothing before the first.
  std::optional<double> seconds_left(double seconds) const;

 private:
  struct Run {
    RoundCounter counter;
    std::int64_t rounds, before, now;
    bool closed = false;
  };
  std::map<std::string, Run> runs_;
  std::int64_t total_ = 0;
};

}  // namespace fedvg
