#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "fedvg/options.h"
#include "fedvg/partition.h"

namespace fedvg {

/// Who takes part in a round; in [train].
struct CohortOptions {
  double participation = 0.1;
  std::int64_t participants = 0;
  std::string cohorts = "";

  template <class Visitor>
  static void describe(Visitor& visit) {
    visit("participation", &CohortOptions::participation, above_up_to(0, 1),
          "share of all clients that takes part in a round: max(1, floor(N * share))");
    visit("participants", &CohortOptions::participants, at_least(0),
          "clients that take part in a round, instead of a share; 0: by participation");
    visit("cohorts", &CohortOptions::cohorts, FilePath{},
          "JSON list of rounds, each a list of clients, repeated when short: replaces "
          "participation and participants");
  }
};

/// The participants of every round.
///
/// Drawn: K of the clients that have samples, uniformly without replacement, from
/// Random(seed, "cohort", round): a round's cohort depends on nothing that went before.
/// K = max(1, floor(N * participation + 1e-9)) with N all clients, or `participants`; fewer
/// when fewer clients have samples. From a file: as it says, without empty clients.
class Cohorts {
 public:
  /// `sizes`: samples of each client. Throws OptionError (participation outside (0, 1],
  /// participants below 0 or above N) or DataError (no client has samples; a file that is
  /// no list of rounds, names a client outside [0, N) or one twice in a round, or has a
  /// round without any client that has samples).
  Cohorts(const CohortOptions& options, std::span<const std::int64_t> sizes, std::uint64_t seed);

  /// Of `round`, from 1: ascending when drawn, in the file's order from a file; not empty.
  IndexList cohort(std::int64_t round) const;

  /// The most that take part in one round.
  std::int64_t participants() const { return participants_; }
  /// To be said at start: K that fell, empty clients of a file, what a file replaces.
  const std::vector<std::string>& notes() const { return notes_; }

 private:
  void read_file(const std::string& path, std::span<const std::int64_t> sizes);

  std::uint64_t seed_;
  IndexList candidates_;  ///< clients with samples, ascending
  std::int64_t participants_ = 0;
  std::vector<IndexList> rounds_;  ///< of a file, else empty
  std::vector<std::string> notes_;
};

}  // namespace fedvg
