#include "engine/validation_budget.h"

#include <algorithm>
#include <cmath>
#include <limits>

namespace fedvg {

double weight_spread(std::span<const ScoreSpread* const> clients) {
  const ScoreSpread& first = *clients[0];
  const std::size_t groups = first.groups.size();
  double largest = 0;
  for (std::size_t column = 0; column < first.scores.size() && groups > 1; ++column) {
    double total = 0;
    for (const ScoreSpread* client : clients) total += client->scores[column];
    std::vector<double> common(groups, 0.0);  // sum_i w_i e_ij
    for (const ScoreSpread* client : clients) {
      for (std::size_t j = 0; j < groups; ++j) {
        common[j] += client->scores[column] / total * client->groups[j].deviation[column];
      }
    }
    for (const ScoreSpread* client : clients) {
      double sum = 0;
      for (std::size_t j = 0; j < groups; ++j) {
        const double deviation = client->groups[j].deviation[column] - common[j];
        sum += static_cast<double>(client->groups[j].images) * deviation * deviation;
      }
      if (!std::isfinite(sum)) return std::numeric_limits<double>::infinity();
      largest = std::max(largest, sum / static_cast<double>(groups - 1));
    }
  }
  return std::sqrt(largest);
}

std::vector<std::size_t> ends_of_groups(std::size_t count, std::size_t groups) {
  std::vector<std::size_t> ends;
  for (std::size_t j = 1; j <= groups; ++j) ends.push_back(j * count / groups);
  return ends;
}

ValidationBudget::ValidationBudget(double budget, std::vector<std::size_t> ends, std::uint64_t seed)
    : budget_(budget), ends_(std::move(ends)), seed_(seed) {}

double ValidationBudget::images_needed() const {
  const auto all = static_cast<double>(ends_.back());
  if (!spread_) return all;
  if (*spread_ == 0) return 0;
  const double allowed = budget_ / (kStudent * *spread_);
  return 1 / (1 / all + allowed * allowed);
}

std::int64_t ValidationBudget::images_in(std::span<const std::size_t> batches) const {
  std::size_t images = 0;
  for (const std::size_t b : batches) images += ends_[b] - (b == 0 ? 0 : ends_[b - 1]);
  return static_cast<std::int64_t>(images);
}

std::vector<std::size_t> ValidationBudget::batches_of(std::int64_t round) const {
  const double needed = images_needed();
  Random random(seed_, "validation-budget", round);
  const auto count = static_cast<std::uint64_t>(ends_.size());
  const auto start = static_cast<std::size_t>(random.below(count));
  std::vector<std::size_t> batches;
  std::int64_t images = 0;
  while (batches.size() < ends_.size() &&
         (batches.size() < kGroups || static_cast<double>(images) < needed)) {
    batches.push_back((start + batches.size()) % ends_.size());
    images += images_in(std::span(&batches.back(), 1));
  }
  return batches;
}

void ValidationBudget::measure(std::span<const std::vector<ScoreSpread>> clients) {
  if (clients.size() < 2) return;
  double largest = 0;
  for (std::size_t rule = 0; rule < clients[0].size(); ++rule) {
    std::vector<const ScoreSpread*> of_rule;
    for (const auto& client : clients) of_rule.push_back(&client[rule]);
    largest = std::max(largest, weight_spread(of_rule));
  }
  spread_ = largest;
}

}  // namespace fedvg
