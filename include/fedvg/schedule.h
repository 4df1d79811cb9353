#pragma once

#include <cstdint>

namespace fedvg {

/// The local learning rate by round: the same for every client of a round, whenever it was
/// first sampled.
class Schedule {
 public:
  static constexpr const char* kind = "schedule";
  virtual ~Schedule() = default;
  /// Times the optimizer's learning rate in round 1 … rounds.
  virtual double factor(std::int64_t round, std::int64_t rounds) const = 0;
};

}  // namespace fedvg
