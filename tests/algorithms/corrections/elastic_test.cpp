#include <gtest/gtest.h>

#include <ATen/ops/tensor.h>

#include <algorithm>
#include <numeric>
#include <set>

#include "algorithms/corrections/testing.h"

namespace fedvg {
namespace {

using namespace testing;

/// Omega after two probe batches with gradients (3, 4 | 2) and (0, 1 | 0).
std::vector<double> sensitivity(std::initializer_list<std::pair<const char*, Value>> options) {
  LocalRound local({2, 1});
  const std::vector<std::vector<std::int64_t>> probe{{0, 1}, {2}};
  local.context.fixed_probe = probe;
  local.samples = {5, 6, 7};
  local.tools.gradient = [&](std::span<const std::int64_t> batch) {
    return batch.size() == 2 ? local.vector({{3, 4}, {2}}) : local.vector({{0, 1}, {0}});
  };
  const auto elastic = correction("elastic", options);
  elastic->begin(local.context);
  EXPECT_EQ(local.samples.size(), 3U);  // a given probe takes nothing away
  for (const Mode mode : local.tools.modes) EXPECT_EQ(mode, Mode::eval);
  elastic->end(local.context, local.update);
  const at::Tensor omega = local.update.note.at("omega");
  return {omega.data_ptr<double>(), omega.data_ptr<double>() + omega.numel()};
}

// First tensor: 0.05 * 25 = 1.25, then 0.95 * 1.25 + 0.05 * 1 = 1.2375; second 0.05 * 4 =
// 0.2, then 0.19.
TEST(Elastic, FollowsTheSquaredGradientOverTheProbe) {
  const auto omega = sensitivity({});
  EXPECT_NEAR(omega[0], 1.2375, 1e-14);
  EXPECT_NEAR(omega[1], 0.19, 1e-14);
}

// With gradients that pile up the second batch shows (3, 5 | 2): 0.95 * 1.25 + 0.05 * 34 =
// 2.8875 and 0.19 + 0.2 = 0.39.
TEST(Elastic, LetsGradientsPileUpWhenTold) {
  const auto omega = sensitivity({{"accumulate", true}});
  EXPECT_NEAR(omega[0], 2.8875, 1e-14);
  EXPECT_NEAR(omega[1], 0.39, 1e-14);
}

/// zeta of one tensor for clients with these weights and sensitivities; < 0: not measured.
double zeta(const std::vector<double>& weights, const std::vector<double>& omegas,
            double tau = 0.5) {
  const Layout layout = layout_of_sizes({1});
  const at::Tensor w = at::zeros({layout.size()}, at::kDouble);
  std::vector<Receipt> receipts(omegas.size());
  std::vector<Column> rows;
  for (std::size_t k = 0; k < omegas.size(); ++k) {
    rows.push_back({weights[k]});
    if (omegas[k] >= 0) receipts[k].note["omega"] = at::tensor({omegas[k]}, at::kDouble);
  }
  const auto columns =
      correction("elastic", {{"tau", tau}})->columns({1, 10, w, layout, receipts}, rows);
  EXPECT_EQ(columns.size(), 1U);
  return columns[0];
}

// W = 1/4, 3/4 and Omega = 2, 4: 1 + 0.5 - (0.5 + 3) / 4 = 0.625.
TEST(Elastic, ShortensTheStepOfSensitiveTensors) {
  EXPECT_DOUBLE_EQ(zeta({0.25, 0.75}, {2, 4}), 0.625);
  EXPECT_DOUBLE_EQ(zeta({0.25, 0.75}, {2, 4}, 0.2), 0.325);
}

// U49 (a): equal sensitivity gives FedAvg's step times tau, whatever the level; (b) so do
// sensitivities that are all 0.
TEST(Elastic, WithEqualSensitivityScalesTheWholeStepByTau) {
  EXPECT_DOUBLE_EQ(zeta({0.25, 0.75}, {3, 3}), 0.5);
  EXPECT_DOUBLE_EQ(zeta({0.25, 0.75}, {1e-9, 1e-9}), 0.5);
  EXPECT_DOUBLE_EQ(zeta({0.25, 0.75}, {0, 0}), 0.5);
}

// U49 (c): a client without a probe is left out of sum and maximum: 1.5 - 0.25 * 2 / 2.
TEST(Elastic, LeavesOutWhatWasNotMeasured) {
  EXPECT_DOUBLE_EQ(zeta({0.25, 0.75}, {2, -1}), 1.25);
  EXPECT_DOUBLE_EQ(zeta({0.25, 0.75}, {-1, -1}), 0.5);
}

TEST(Elastic, WeighsEachTensorByItsColumn) {
  const Layout layout = layout_of_sizes({1, 1});
  const at::Tensor w = at::zeros({layout.size()}, at::kDouble);
  std::vector<Receipt> receipts(2);
  receipts[0].note["omega"] = at::tensor({2.0, 4.0}, at::kDouble);
  receipts[1].note["omega"] = at::tensor({4.0, 1.0}, at::kDouble);
  const Column columns =
      correction("elastic")->columns({1, 10, w, layout, receipts}, {{0.5, 0.25}, {0.5, 0.75}});
  // 1.5 - (1 + 2) / 4 and 1.5 - (1 + 0.75) / 4
  EXPECT_DOUBLE_EQ(columns[0], 0.75);
  EXPECT_DOUBLE_EQ(columns[1], 1.0625);
}

/// A client's samples before and after the probe was drawn, and the probe's batches.
struct Drawn {
  std::vector<std::int64_t> probe, rest;
  std::vector<std::size_t> batches;
  bool measured;

  Drawn(std::int64_t size, std::int64_t round, double ratio = 0.3, std::int64_t batch_size = 32) {
    LocalRound local;
    local.samples.resize(static_cast<std::size_t>(size));
    std::iota(local.samples.begin(), local.samples.end(), 100);
    local.random = Random(7, "correction", round, 3);
    local.context.batch_size = batch_size;
    local.tools.gradient = [&](auto) { return local.vector({{1}}); };
    const auto elastic = correction("elastic", {{"sample_ratio", ratio}});
    elastic->begin(local.context);
    rest = local.samples;
    for (const auto& batch : local.tools.batches) {
      probe.insert(probe.end(), batch.begin(), batch.end());
      batches.push_back(batch.size());
    }
    elastic->end(local.context, local.update);
    measured = local.update.note.contains("omega");
  }
};

// floor(0.3 n): 3 of 10 (0.3 * 10 is 3 although 0.3 is not), none of 3; training has the rest.
TEST(Elastic, ProbesAShareOfTheSamplesAndTrainsOnTheRest) {
  const Drawn ten(10, 1);
  EXPECT_EQ(ten.probe.size(), 3U);
  EXPECT_EQ(ten.rest.size(), 7U);
  EXPECT_TRUE(std::is_sorted(ten.rest.begin(), ten.rest.end()));
  std::set<std::int64_t> all(ten.rest.begin(), ten.rest.end());
  all.insert(ten.probe.begin(), ten.probe.end());
  EXPECT_EQ(all.size(), 10U);

  const Drawn three(3, 1);
  EXPECT_TRUE(three.probe.empty());
  EXPECT_FALSE(three.measured);
  EXPECT_EQ(three.rest.size(), 3U);
}

TEST(Elastic, DrawsTheProbeAnewEachRoundFromTheClientsStream) {
  EXPECT_EQ(Drawn(100, 1).probe, Drawn(100, 1).probe);
  EXPECT_NE(Drawn(100, 1).probe, Drawn(100, 2).probe);
}

TEST(Elastic, CutsTheProbeIntoBatches) {
  EXPECT_EQ(Drawn(100, 1, 0.3, 8).batches, (std::vector<std::size_t>{8, 8, 8, 6}));
}

TEST(Elastic, RefusesOptionsOutOfBounds) {
  EXPECT_TRUE(correction("elastic")->needs_weights());
  EXPECT_THROW(correction("elastic", {{"sample_ratio", 1.0}}), OptionError);
  EXPECT_THROW(correction("elastic", {{"mu", 1.5}}), OptionError);
  EXPECT_THROW(correction("elastic", {{"tau", -0.5}}), OptionError);
}

}  // namespace
}  // namespace fedvg
