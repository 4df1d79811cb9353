#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "engine/engine_options.h"
#include "fedvg/method.h"

// Participants that never answer, and those that do less than the others.

namespace fedvg {

/// `share` of them, to the nearest whole number, halves up; a product that is half but for
/// rounding counts as half.
std::int64_t nearest_share(double share, std::int64_t participants);

/// train.drop_out and train.stragglers.
///
/// Of K participants nearest_share(drop_out, K) never answer, and nearest_share(stragglers, K) of
/// those that do, or all of them when they are fewer, do 1 to one less than all passes, each
/// number as likely. Who it is depends on seed, round and the set of participants alone.
struct ClientFaults {
  double drop_out = 0, stragglers = 0;

  std::int64_t dropped(std::int64_t participants) const {
    return nearest_share(drop_out, participants);
  }

  /// How many of `all` passes (or steps) each participant does, in the order of the cohort; 0:
  /// it never answers. `all` is at least 2 where there are stragglers.
  std::vector<std::int64_t> passes(std::uint64_t seed, std::int64_t round,
                                   const std::vector<std::int64_t>& cohort, std::int64_t all) const;
};

/// Throws OptionError when there is nobody who could drop out (method `centralized`), nothing
/// that a straggler could leave out, or when a round of `largest_cohort` participants, 0: not
/// known, can never have the accepted updates that it needs.
void check_client_faults(const TrainOptions& train, const Method& method,
                         std::int64_t largest_cohort);

/// Shares that are nobody of so many participants, for people.
std::vector<std::string> idle_client_faults(const TrainOptions& train, std::int64_t largest_cohort);

}  // namespace fedvg
