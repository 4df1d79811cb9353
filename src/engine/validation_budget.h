#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "fedvg/random.h"
#include "fedvg/weighting.h"

// scoring.budget: how much of D_val a round is scored on.
//
// D_val's M images lie in an order in which neighbours have about D_val's class shares
// (data/stratify.h: stratified_order), cut into scoring batches. A round scores all its
// participants on one run of neighbouring batches, from a batch drawn for the round and over the
// end to the beginning where needed, so that rounds do not repeat one part's error. The run is
// scored as kGroups groups of neighbouring batches, and the rule says by how much of itself u_k
// would deviate on group j: e_kj, with a variance that goes as 1/m_j. Clients see the same images,
// so the weight w_k = u_k / sum_i u_i deviates by
//
//   d_kj = e_kj - sum_i w_i e_ij                       of itself, to first order,
//
// in which whatever all clients have in common drops out; no independence of clients is assumed.
// The sample variance over groups, brought to one image, is S_k^2 = sum_j m_j d_kj^2 / (G - 1), and
// with m of M images, without replacement, the weight deviates with the variance S_k^2 (1/m - 1/M).
// The half-width of its 95 % interval is t S_k sqrt(1/m - 1/M), t the quantile of Student's
// distribution with G - 1 degrees of freedom, and the next round takes the smallest m with
//
//   1/m <= 1/M + (budget / (t S))^2                    S the largest S_k over clients and columns,
//
// in whole batches, at least one a group. S = 0 takes the least, a first round everything. A part
// of a mix is counted as if it were alone: mixing makes relative errors smaller.

namespace fedvg {

class ValidationBudget {
 public:
  static constexpr std::size_t kGroups = 8;
  static constexpr double kStudent = 2.364624;  ///< 97.5 % point, kGroups - 1 degrees of freedom

  /// False: D_val is so few batches that a part of it could not be measured.
  static bool applies(std::size_t batches) { return batches > kGroups; }

  /// `ends`: images up to the end of each batch of D_val in its order, applies(ends.size());
  /// budget > 0.
  ValidationBudget(double budget, std::vector<std::size_t> ends, std::uint64_t seed);

  /// Images that the next round needs.
  double images_needed() const;
  /// The batches that a round is scored on, in order; they depend on its number and on what was
  /// measured before.
  std::vector<std::size_t> batches_of(std::int64_t round) const;
  /// Images in them.
  std::int64_t images_in(std::span<const std::size_t> batches) const;

  /// A finished round: the spreads of each accepted client, one a rule that measures them. Fewer
  /// than two clients say nothing about weights: what was known stays.
  void measure(std::span<const std::vector<ScoreSpread>> clients);

  /// S, all that must be kept to go on later; absent: nothing was measured yet.
  std::optional<double> spread() const { return spread_; }
  void restore(std::optional<double> spread) { spread_ = spread; }

 private:
  double budget_;
  std::vector<std::size_t> ends_;
  std::uint64_t seed_;
  std::optional<double> spread_;
};

/// S of one rule, from its spreads of at least two clients, all over the same groups.
double weight_spread(std::span<const ScoreSpread* const> clients);

/// `count` items in `groups` runs of neighbours that differ by at most one: the ends.
std::vector<std::size_t> ends_of_groups(std::size_t count, std::size_t groups);

}  // namespace fedvg
