#include "data/cohorts.h"

#include <algorithm>
#include <cstddef>
#include <nlohmann/json.hpp>
#include <utility>

#include "data/choice.h"
#include "data/index_lists.h"
#include "fedvg/error.h"
#include "fedvg/random.h"

namespace fedvg {
namespace {

std::int64_t wanted_participants(const CohortOptions& options, std::int64_t clients) {
  if (!(options.participation > 0 && options.participation <= 1)) {
    throw OptionError("train.participation = " + Value(options.participation).text() +
                      " is out of bounds: it must be in (0, 1]");
  }
  if (options.participants < 0 || options.participants > clients) {
    throw OptionError("train.participants = " + std::to_string(options.participants) +
                      " is out of bounds: there are " + std::to_string(clients) + " clients");
  }
  if (options.participants > 0) return options.participants;
  return std::max<std::int64_t>(1, share_of(options.participation, clients));
}

}  // namespace

Cohorts::Cohorts(const CohortOptions& options, std::span<const std::int64_t> sizes,
                 std::uint64_t seed)
    : seed_(seed) {
  for (std::size_t k = 0; k < sizes.size(); ++k) {
    if (sizes[k] > 0) candidates_.push_back(static_cast<std::int64_t>(k));
  }
  if (candidates_.empty()) throw DataError("no client has a sample: nobody can take part");
  const std::int64_t wanted = wanted_participants(options, std::ssize(sizes));
  if (!options.cohorts.empty()) {
    read_file(options.cohorts, sizes);
    return;
  }
  participants_ = std::min<std::int64_t>(wanted, std::ssize(candidates_));
  if (participants_ < wanted) {
    notes_.push_back("only " + std::to_string(participants_) + " of " +
                     std::to_string(sizes.size()) + " clients have samples: they all take part " +
                     "in every round, instead of " + std::to_string(wanted));
  }
}

void Cohorts::read_file(const std::string& path, std::span<const std::int64_t> sizes) {
  rounds_ = index_lists(read_json(path), std::ssize(sizes), path, "round", "client", 1);
  if (rounds_.empty()) throw DataError(path + " has no rounds");
  std::int64_t dropped = 0;
  for (std::size_t i = 0; i < rounds_.size(); ++i) {
    dropped += static_cast<std::int64_t>(std::erase_if(
        rounds_[i], [&](std::int64_t k) { return sizes[static_cast<std::size_t>(k)] == 0; }));
    if (rounds_[i].empty()) {
      throw DataError(path + ": round " + std::to_string(i + 1) + " has no client with samples");
    }
    participants_ = std::max<std::int64_t>(participants_, std::ssize(rounds_[i]));
  }
  notes_.push_back("participants of " + std::to_string(rounds_.size()) + " rounds taken from " +
                   path + ", repeated as needed; train.participation and train.participants " +
                   "do not apply");
  if (dropped > 0) {
    notes_.push_back(path + " names clients without samples " + std::to_string(dropped) +
                     " times: they are left out");
  }
}

IndexList Cohorts::cohort(std::int64_t round) const {
  if (!rounds_.empty()) {
    return rounds_[static_cast<std::size_t>(round - 1) % rounds_.size()];
  }
  IndexList drawn = candidates_;
  Random random(seed_, "cohort", round);
  for (std::int64_t i = 0; i < participants_; ++i) {  // the first K steps of a shuffle
    const auto rest = static_cast<std::uint64_t>(std::ssize(drawn) - i);
    std::swap(drawn[static_cast<std::size_t>(i)],
              drawn[static_cast<std::size_t>(i) + random.below(rest)]);
  }
  drawn.resize(static_cast<std::size_t>(participants_));
  std::sort(drawn.begin(), drawn.end());
  return drawn;
}

}  // namespace fedvg
