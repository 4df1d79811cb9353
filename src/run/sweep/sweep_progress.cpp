#include "run/sweep/sweep_progress.h"

#include <algorithm>

namespace fedvg {

void SweepProgress::add(const std::string& name, const std::filesystem::path& folder,
                        std::int64_t rounds) {
  RoundCounter counter(folder);
  const std::int64_t before = std::min(rounds, counter.count());
  runs_.emplace(name, Run{counter, rounds, before, before});
  total_ += rounds;
}

void SweepProgress::look(const std::string& name) {
  Run& run = runs_.at(name);
  run.now = std::min(run.rounds, run.counter.count());
  run.before = std::min(run.before, run.now);  // taken up from a checkpoint further back
}

void SweepProgress::close(const std::string& name) {
  look(name);
  runs_.at(name).closed = true;
}

std::int64_t SweepProgress::done() const {
  std::int64_t done = 0;
  for (const auto& [name, run] : runs_) done += run.closed ? run.rounds : run.now;
  return done;
}

std::optional<double> SweepProgress::seconds_left(double seconds) const {
  std::int64_t finished = 0;
  for (const auto& [name, run] : runs_) finished += run.now - run.before;
  if (finished == 0) return std::nullopt;
  return seconds * static_cast<double>(total_ - done()) / static_cast<double>(finished);
}

}  // namespace fedvg
