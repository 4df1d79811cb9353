#include "engine/validation_budget.h"

#include <gtest/gtest.h>

#include <cmath>
#include <numeric>
#include <set>

#include "algorithms/weighting/noisy_norm.h"
#include "engine/toy_federation.h"

namespace fedvg {
namespace {

using namespace testing;

/// `count` batches of `size` images, the last of `last`.
std::vector<std::size_t> ends(std::size_t count, std::size_t size, std::size_t last) {
  std::vector<std::size_t> result;
  for (std::size_t b = 1; b < count; ++b) result.push_back(b * size);
  result.push_back((count - 1) * size + last);
  return result;
}

/// One column, groups of 10 images.
ScoreSpread spread(double u, const std::vector<double>& deviations) {
  ScoreSpread result{{u}, {}};
  for (const double deviation : deviations) result.groups.push_back({10, {deviation}});
  return result;
}

double spread_of(const std::vector<ScoreSpread>& clients) {
  std::vector<const ScoreSpread*> pointers;
  for (const auto& client : clients) pointers.push_back(&client);
  return weight_spread(pointers);
}

// Weights 1/4 and 3/4. On the first group u_1 is larger by 0.1 of itself, so the weights by
// 0.1 - 0.025 = 0.075 and -0.025 of themselves: S^2 = 2 * 10 * 0.075^2 / (2 - 1).
TEST(ValidationBudget, SpreadsAWeightByHand) {
  EXPECT_NEAR(spread_of({spread(1, {0.1, -0.1}), spread(3, {0, 0})}), std::sqrt(0.1125), 1e-14);
  EXPECT_NEAR(spread_of({spread(3, {0.1, -0.1}), spread(1, {0, 0})}), std::sqrt(0.1125), 1e-14)
      << "the other client's weight moves by 0.075 of itself now";
}

TEST(ValidationBudget, WhatAllClientsHaveInCommonIsNoSpread) {
  EXPECT_NEAR(spread_of({spread(1, {0.3, -0.3}), spread(7, {0.3, -0.3})}), 0, 1e-14);
}

TEST(ValidationBudget, TheWorstColumnCounts) {
  ScoreSpread one{{1, 1}, {{10, {0, 0.2}}, {10, {0, -0.2}}}};
  ScoreSpread other{{1, 1}, {{10, {0.1, 0}}, {10, {-0.1, 0}}}};
  EXPECT_NEAR(spread_of({one, other}), std::sqrt(2 * 10 * 0.01), 1e-14);
}

// t S sqrt(1/m - 1/M) = budget.
TEST(ValidationBudget, NeedsSoManyImagesThatTheIntervalIsAsWideAsAllowed) {
  ValidationBudget budget(0.1, ends(100, 32, 32), 1);
  EXPECT_EQ(budget.images_needed(), 3200);  // nothing is known yet
  budget.restore(2.0);
  const double images = budget.images_needed();
  EXPECT_NEAR(ValidationBudget::kStudent * 2 * std::sqrt(1 / images - 1.0 / 3200), 0.1, 1e-12);
  EXPECT_GT(images, 1000);
  const auto batches = budget.batches_of(1);
  EXPECT_EQ(static_cast<double>(batches.size()), std::ceil(images / 32));
  EXPECT_EQ(budget.images_in(batches), static_cast<std::int64_t>(batches.size()) * 32);
}

TEST(ValidationBudget, TakesOneBatchAGroupAtLeastAndAllAtMost) {
  ValidationBudget budget(0.1, ends(20, 32, 7), 1);
  EXPECT_EQ(budget.batches_of(1).size(), 20U);
  for (const double small : {0.0, 1e-9}) {
    budget.restore(small);
    EXPECT_EQ(budget.batches_of(2).size(), ValidationBudget::kGroups);
  }
  for (const double large : {1e9, std::numeric_limits<double>::infinity()}) {
    budget.restore(large);
    EXPECT_EQ(budget.batches_of(2).size(), 20U);
    EXPECT_EQ(budget.images_in(budget.batches_of(2)), 19 * 32 + 7);
  }
}

TEST(ValidationBudget, RoundsTakeTurnsOverDval) {
  ValidationBudget budget(0.1, ends(20, 32, 32), 1);
  budget.restore(0.0);
  std::set<std::size_t> seen, first;
  for (std::int64_t round = 1; round <= 60; ++round) {
    const auto batches = budget.batches_of(round);
    EXPECT_EQ(batches, budget.batches_of(round));
    for (std::size_t i = 1; i < batches.size(); ++i) {
      EXPECT_EQ(batches[i], (batches[i - 1] + 1) % 20);
    }
    seen.insert(batches.begin(), batches.end());
    first.insert(batches[0]);
  }
  EXPECT_EQ(seen.size(), 20U);
  EXPECT_GT(first.size(), 10U);
}

TEST(ValidationBudget, MeasuresTheWorstRuleOfARoundWithWeights) {
  ValidationBudget budget(0.1, ends(20, 32, 32), 1);
  budget.measure({});
  EXPECT_FALSE(budget.spread());
  const ScoreSpread quiet = spread(1, {0, 0}), loud = spread(1, {0.2, -0.2});
  std::vector<std::vector<ScoreSpread>> clients = {{quiet, loud}, {quiet, quiet}};
  budget.measure(clients);
  EXPECT_NEAR(budget.spread().value(), std::sqrt(2 * 10 * 0.01), 1e-14);
  clients = {{quiet, quiet}};
  budget.measure(clients);  // one client: its weight is 1 whatever its score
  EXPECT_NEAR(budget.spread().value(), std::sqrt(2 * 10 * 0.01), 1e-14);
  clients = {{spread(1, {std::nan(""), 0}), quiet}, {quiet, quiet}};
  budget.measure(clients);
  EXPECT_EQ(budget.batches_of(3).size(), 20U);
}

TEST(ValidationBudget, CutsGroupsOfNeighbours) {
  EXPECT_EQ(ends_of_groups(8, 8), (std::vector<std::size_t>{1, 2, 3, 4, 5, 6, 7, 8}));
  EXPECT_EQ(ends_of_groups(10, 4), (std::vector<std::size_t>{2, 5, 7, 10}));
  EXPECT_EQ(ends_of_groups(5, 1), (std::vector<std::size_t>{5}));
}

// --- the promise, on gradients of normal noise

/// Clients and 1600 images in batches of 10. A client's gradient of an image has 30 coordinates:
/// its own mean, noise of the image that all clients see alike, and noise of its own.
class Synthetic {
 public:
  static constexpr std::size_t kCoordinates = 30, kBatch = 10, kBatches = 160;

  Synthetic(std::uint64_t seed, std::size_t clients, double noise)
      : random_(seed, "synthetic-gradients") {
    std::vector<double> common(kBatches * kBatch * kCoordinates);
    for (double& x : common) x = noise * random_.normal();
    for (std::size_t k = 0; k < clients; ++k) {
      std::vector<double> mean(kCoordinates);
      for (double& x : mean) x = (1 + 0.3 * static_cast<double>(k)) * random_.normal();
      auto& images = gradients_.emplace_back(common);
      for (std::size_t i = 0; i < images.size(); ++i) {
        images[i] = mean[i % kCoordinates] + images[i] + noise * random_.normal();
      }
    }
  }

  /// l1 norms of the mean over these batches.
  double norm(std::size_t client, std::span<const std::size_t> batches) const {
    std::vector<double> sum(kCoordinates, 0.0);
    for (const std::size_t b : batches) {
      const std::size_t begin = b * kBatch * kCoordinates;
      for (std::size_t i = 0; i < kBatch * kCoordinates; ++i) {
        sum[i % kCoordinates] += gradients_[client][begin + i];
      }
    }
    double norm = 0;
    for (const double x : sum) norm += std::abs(x);
    return norm / static_cast<double>(batches.size() * kBatch);
  }

  std::vector<ScoreSpread> score(std::span<const std::size_t> batches) const {
    std::vector<ScoreSpread> clients;
    for (std::size_t k = 0; k < gradients_.size(); ++k) {
      GroupNorms groups{kBatches * kBatch, {}, {}};
      std::size_t begin = 0;
      for (const std::size_t end : ends_of_groups(batches.size(), ValidationBudget::kGroups)) {
        groups.images.push_back(static_cast<std::int64_t>((end - begin) * kBatch));
        groups.norms.push_back({norm(k, batches.subspan(begin, end - begin))});
        begin = end;
      }
      const NormEstimate estimate = estimate_norm(norm(k, batches), groups, 0);
      ScoreSpread& client = clients.emplace_back(ScoreSpread{{1 / estimate.norm}, {}});
      for (std::size_t j = 0; j < groups.images.size(); ++j) {
        client.groups.push_back({groups.images[j], {-estimate.deviations[j]}});
      }
    }
    return clients;
  }

 private:
  Random random_;
  std::vector<std::vector<double>> gradients_;  ///< [client][image * coordinates]
};

std::vector<double> weights_of(const std::vector<ScoreSpread>& clients) {
  double total = 0;
  for (const auto& client : clients) total += client.scores[0];
  std::vector<double> weights;
  for (const auto& client : clients) weights.push_back(client.scores[0] / total);
  return weights;
}

struct Coverage {
  double kept = 0;   ///< share of weights within budget * weight of full scoring's
  double whole = 0;  ///< share of rounds in which all are
  double share = 0;  ///< of D_val that was scored on
};

Coverage coverage(std::size_t clients, double noise, double allowed) {
  Coverage result;
  int rounds = 0;
  for (std::uint64_t seed = 1; seed <= 8; ++seed) {
    const Synthetic gradients(seed, clients, noise);
    std::vector<std::size_t> all(Synthetic::kBatches);
    std::iota(all.begin(), all.end(), std::size_t{0});
    const auto wanted = weights_of(gradients.score(all));
    ValidationBudget budget(allowed, ends(Synthetic::kBatches, 10, 10), seed);
    for (std::int64_t round = 1; round <= 40; ++round) {
      const auto batches = budget.batches_of(round);
      std::vector<std::vector<ScoreSpread>> spreads;
      const auto scored = gradients.score(batches);
      for (const auto& client : scored) spreads.push_back({client});
      budget.measure(spreads);
      if (round == 1) continue;
      ++rounds;
      result.share += static_cast<double>(batches.size()) / Synthetic::kBatches;
      const auto weights = weights_of(scored);
      double kept = 0;
      for (std::size_t k = 0; k < clients; ++k) {
        kept += std::abs(weights[k] / wanted[k] - 1) <= allowed;
      }
      result.kept += kept / static_cast<double>(clients);
      result.whole += kept == static_cast<double>(clients);
    }
  }
  result.kept /= rounds;
  result.whole /= rounds;
  result.share /= rounds;
  return result;
}

// Of two clients the one with the smaller weight decides: its interval is the budget.
TEST(ValidationBudget, TheIntervalHolds95Percent) {
  for (const double noise : {2.0, 6.0}) {
    const Coverage held = coverage(2, noise, noise / 40);
    EXPECT_GE(held.whole, 0.93) << noise;
    EXPECT_LE(held.whole, 0.99) << noise;
    EXPECT_LT(held.share, 0.6) << noise;
    EXPECT_GT(held.share, 0.06) << noise;  // more than the least: the budget decides
  }
}

// Of more clients the worst decides, and the others' weights are better.
TEST(ValidationBudget, KeepsWeightsWithinTheBudget) {
  const Coverage held = coverage(6, 4, 0.1);
  EXPECT_GE(held.kept, 0.95);
  EXPECT_LT(held.share, 0.6);
}

// A smaller budget takes more images.
TEST(ValidationBudget, FollowsTheBudget) {
  const Coverage small = coverage(6, 4, 0.04), large = coverage(6, 4, 0.16);
  EXPECT_GT(small.share, 1.5 * large.share);
}

// --- in a federation: D_val is 40 samples in 20 batches

ToyOptions toy(double budget, std::size_t workers = 2) {
  ToyOptions options;
  options.validation = 40;
  options.validation_batch = 2;
  options.weighting = part("fedvg");
  options.workers = workers;
  options.adjust = [budget](DriverSetup& setup) { setup.scoring_budget = budget; };
  return options;
}

std::vector<std::int64_t> scored(ToyFederation& federation, std::int64_t rounds) {
  std::vector<std::int64_t> images;
  for (std::int64_t round = 1; round <= rounds; ++round) {
    images.push_back(federation.round(round, {0, 1, 2}).scored.value());
  }
  return images;
}

using Images = std::vector<std::int64_t>;

TEST(ValidationBudget, AHugeOneScoresOnTheLeastATinyOneOnAll) {
  ToyFederation huge(toy(1e6)), tiny(toy(1e-9)), off(toy(0));
  EXPECT_EQ(scored(huge, 3), (Images{40, 16, 16}));
  EXPECT_EQ(scored(tiny, 3), (Images{40, 40, 40}));
  EXPECT_EQ(scored(off, 3), (Images{40, 40, 40}));
  EXPECT_EQ(off.driver->budget(), nullptr);
  // The same gradients but for the order of the sums.
  for (std::size_t i = 0; i < off.model().size(); ++i) {
    EXPECT_NEAR(tiny.model()[i], off.model()[i], 1e-12);
  }
  EXPECT_NE(huge.model(), off.model());
}

TEST(ValidationBudget, RulesThatDoNotScoreSayNothing) {
  ToyOptions options = toy(0);
  options.weighting = part("size");
  ToyFederation federation(std::move(options));
  EXPECT_FALSE(federation.round(1, {0, 1, 2}).scored);
}

TEST(ValidationBudget, TooFewBatchesAreScoredOnInOneAsEver) {
  std::vector<std::vector<double>> models;
  for (const double budget : {0.0, 0.1}) {
    ToyOptions options = toy(budget);
    options.validation_batch = 5;
    ToyFederation federation(std::move(options));
    EXPECT_EQ(scored(federation, 2), (Images{40, 40}));
    models.push_back(federation.model());
  }
  EXPECT_EQ(models[0], models[1]);
}

TEST(ValidationBudget, DoesNotDependOnTheNumberOfWorkers) {
  for (const char* granularity : {"model", "layer"}) {
    std::vector<std::vector<double>> models;
    std::vector<Images> images;
    for (const std::size_t workers : {1U, 2U, 3U}) {
      ToyOptions options = toy(0.3, workers);
      options.weighting = part("fedvg", {{"granularity", granularity}, {"score_floor", 0.9}});
      ToyFederation federation(std::move(options));
      images.push_back(scored(federation, 4));
      models.push_back(federation.model());
    }
    EXPECT_EQ(models[0], models[1]);
    EXPECT_EQ(models[0], models[2]);
    EXPECT_EQ(images[0], images[1]);
    EXPECT_EQ(images[0], images[2]);
  }
}

// What a checkpoint must keep is one number.
TEST(ValidationBudget, GoesOnFromItsSpread) {
  ToyFederation whole(toy(0.3)), resumed(toy(0.3));
  EXPECT_EQ(scored(whole, 2)[0], 40);
  resumed.driver->set_global(whole.driver->global(), whole.driver->buffers());
  resumed.driver->budget()->restore(whole.driver->budget()->spread());
  const auto one = whole.round(3, {0, 1, 2}), other = resumed.round(3, {0, 1, 2});
  EXPECT_LT(one.scored.value(), 40);
  EXPECT_EQ(one.scored, other.scored);
  EXPECT_EQ(whole.model(), resumed.model());
}

TEST(ValidationBudget, AVoidRoundSaysNothing) {
  ToyFederation federation(toy(0.3));
  scored(federation, 1);
  const auto spread = federation.driver->budget()->spread();
  ASSERT_TRUE(spread);
  ToyOptions options = toy(0.3);
  options.after_end = [](LocalContext&, ClientUpdate& update) { update.delta.fill_(std::nan("")); };
  ToyFederation broken(std::move(options));
  broken.driver->budget()->restore(spread);
  EXPECT_TRUE(broken.round(1, {0, 1, 2}).is_void);
  EXPECT_EQ(broken.driver->budget()->spread(), spread);
}

}  // namespace
}  // namespace fedvg
