#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "run/round_tables.h"

namespace fedvg {

/// The best round so far by a figure of D_val, the first of equals, and for how many evaluations
/// it has not been bettered. A round whose figure, or loss on D_val, is absent or no finite number
/// is not best.
class BestRound {
 public:
  /// `metric`: one of CheckpointOptions::best.
  explicit BestRound(std::string metric) : metric_(std::move(metric)) {}

  /// A finished round; true: it is the best so far. One that was not evaluated changes nothing.
  /// `due`: by evaluate.every, not only for being the last round, which does not try patience.
  bool add(const RoundResult& result, bool due = true);

  const std::string& metric() const { return metric_; }
  bool is_known() const { return value_.has_value(); }
  std::int64_t round() const { return round_; }  ///< 0: none yet
  double value() const { return value_.value(); }
  /// Evaluations since, in a row; of all where there is no best.
  std::int64_t not_bettered() const { return not_bettered_; }
  /// Early stopping: `patience` evaluations in a row did not better it; 0: never.
  bool has_run_out(std::int64_t patience) const {
    return patience > 0 && not_bettered_ >= patience;
  }

  /// All that must be kept to go on later.
  struct State {
    std::int64_t round = 0;
    std::optional<double> value;
    std::int64_t not_bettered = 0;
  };
  State state() const { return {round_, value_, not_bettered_}; }
  void restore(const State& state);

 private:
  std::string metric_;
  std::int64_t round_ = 0;
  std::optional<double> value_;
  std::int64_t not_bettered_ = 0;
};

}  // namespace fedvg
