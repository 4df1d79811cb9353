#include "engine/client_faults.h"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "data/wording.h"
#include "fedvg/error.h"
#include "fedvg/random.h"

namespace fedvg {
namespace {

/// The first `number` of a shuffle of `from` are taken out of it.
std::vector<std::size_t> draw_some(std::vector<std::size_t>& from, std::int64_t number,
                                   Random random) {
  random.shuffle(std::span(from));
  const auto end = from.begin() + std::min<std::int64_t>(number, std::ssize(from));
  std::vector<std::size_t> drawn(from.begin(), end);
  from.erase(from.begin(), end);
  return drawn;
}

void check_someone_to_miss(const TrainOptions& train, const Method& method) {
  if (method.line != Line::centralized) return;
  const char* option = train.drop_out > 0     ? "drop_out"
                       : train.stragglers > 0 ? "stragglers"
                                              : nullptr;
  if (!option) return;
  throw OptionError(std::string("train.") + option + ": under method.name = \"" + method.name +
                    "\" the samples of all clients are trained on as one, and there is no client "
                    "that could fail; leave it out");
}

void check_something_to_leave_out(const TrainOptions& train) {
  if (train.stragglers == 0 || (train.steps > 0 ? train.steps : train.epochs) > 1) return;
  const std::string which = train.steps > 0 ? "steps" : "epochs";
  throw OptionError("train.stragglers: a straggler does fewer " + which + " than train." + which +
                    " = 1, and there are none; set train." + which +
                    " to at least 2, or leave stragglers out");
}

void check_enough_can_answer(const TrainOptions& train, std::int64_t participants) {
  const std::int64_t dropped = nearest_share(train.drop_out, participants);
  const std::int64_t answers = participants - dropped;
  if (answers >= train.min_participants) return;
  const std::string share = "train.drop_out = " + Value(train.drop_out).text();
  if (answers == 0) {
    throw OptionError(share + ": of " + counted(participants, "participant") +
                      " nobody answers, so that every round would be void; take a smaller share");
  }
  const std::string lost =
      dropped == 0 ? ""
                   : ", of which " + std::to_string(dropped) +
                         (dropped == 1 ? " never answers (" : " never answer (") + share + ")";
  throw OptionError("train.min_participants = " + std::to_string(train.min_participants) +
                    ": a round has " + counted(participants, "participant") + lost +
                    ", so that every round would be void; set it to at most " +
                    std::to_string(answers) + ", or let more take part");
}

}  // namespace

std::int64_t nearest_share(double share, std::int64_t participants) {
  return std::min(participants, static_cast<std::int64_t>(std::floor(
                                    share * static_cast<double>(participants) + 0.5 + 1e-9)));
}

std::vector<std::int64_t> ClientFaults::passes(std::uint64_t seed, std::int64_t round,
                                               const std::vector<std::int64_t>& cohort,
                                               std::int64_t all) const {
  std::vector<std::int64_t> passes(cohort.size(), all);
  if (drop_out == 0 && stragglers == 0) return passes;
  const std::int64_t participants = std::ssize(cohort);
  std::vector<std::size_t> answering(cohort.size());
  std::iota(answering.begin(), answering.end(), std::size_t{0});
  const auto by_client = [&](std::size_t a, std::size_t b) { return cohort[a] < cohort[b]; };
  std::sort(answering.begin(), answering.end(), by_client);
  for (const std::size_t i :
       draw_some(answering, dropped(participants), Random(seed, "drop-out", round))) {
    passes[i] = 0;
  }
  std::sort(answering.begin(), answering.end(), by_client);
  for (const std::size_t i : draw_some(answering, nearest_share(stragglers, participants),
                                       Random(seed, "stragglers", round))) {
    Random random(seed, "stragglers", round, cohort[i]);
    passes[i] = 1 + static_cast<std::int64_t>(random.below(static_cast<std::uint64_t>(all - 1)));
  }
  return passes;
}

void check_client_faults(const TrainOptions& train, const Method& method,
                         std::int64_t largest_cohort) {
  check_someone_to_miss(train, method);
  check_something_to_leave_out(train);
  if (largest_cohort > 0) check_enough_can_answer(train, largest_cohort);
}

std::vector<std::string> idle_client_faults(const TrainOptions& train,
                                            std::int64_t largest_cohort) {
  std::vector<std::string> notes;
  if (largest_cohort == 0) return notes;
  const auto say = [&](const char* option, double share) {
    if (share == 0 || nearest_share(share, largest_cohort) > 0) return;
    notes.push_back(std::string("train.") + option + " = " + Value(share).text() +
                    " has no effect: of " + counted(largest_cohort, "participant") +
                    " that is nobody");
  };
  say("drop_out", train.drop_out);
  say("stragglers", train.stragglers);
  return notes;
}

}  // namespace fedvg
