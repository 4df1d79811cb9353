#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "run/round_tables.h"

namespace fedvg {

/// Collects what a person wants to know at the end of a run: the last and the best model,
/// and everything that was said on the way and must not scroll away unseen.
class RunSummary {
 public:
  /// What it has seen, all that must be kept to go on later.
  struct Measured {
    std::int64_t round = 0;
    Evaluation evaluation;
  };
  struct State {
    std::int64_t finished = 0;
    double seconds = 0;
    std::optional<Measured> last, best, last_validation;
    std::optional<std::pair<std::int64_t, ClientFigures>> last_clients;  // with the round
    std::int64_t participants = 0, dropped = 0;
    std::map<std::string, std::vector<std::int64_t>> not_finite;    // by set, rounds of such a loss
    std::vector<std::pair<std::int64_t, std::string>> void_rounds;  // with the reason
    std::map<std::pair<std::string, std::int64_t>, std::vector<std::int64_t>>
        left_out;  // by status and client, the rounds
  };
  const State& state() const { return seen_; }
  void restore(State state) { seen_ = std::move(state); }

  void add_note(const std::string& note) { notes_.push_back(note); }
  /// Of no round.
  void add_warning(const std::string& warning) { warnings_.push_back(warning); }
  void add(const RoundResult& result);

  std::int64_t finished() const { return seen_.finished; }
  /// Mean wall time of the finished rounds; 0 before the first.
  double seconds_per_round() const;
  /// Nobody's update was accepted in any finished round, of which there was one.
  bool all_void() const {
    return seen_.finished > 0 && std::ssize(seen_.void_rounds) == seen_.finished;
  }

  /// One aligned line each. What accuracies are of: `model` ("global model"), and how many
  /// `things` ("images") test set and D_val have.
  std::vector<std::string> lines(const std::string& model, std::int64_t test,
                                 std::int64_t validation, const std::string& things) const;

 private:
  State seen_;
  std::vector<std::string> notes_, warnings_;
};

}  // namespace fedvg
