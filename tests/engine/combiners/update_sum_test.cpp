#include "engine/combiners/update_sum.h"

#include <ATen/ops/full.h>
#include <ATen/ops/zeros.h>
#include <gtest/gtest.h>

namespace fedvg {
namespace {

Layout two_tensors() {
  return Layout({{.name = "a", .block = "a", .shape = {2}, .strides = {1}},
                 {.name = "b", .block = "b", .shape = {}, .strides = {}}});
}

ClientUpdate update(const Layout& layout, double a, double b, Tensors buffers = {}) {
  ClientUpdate result{.samples = 1, .steps = 1};
  result.delta = at::zeros({layout.size()}, at::kDouble);
  layout.segment(result.delta, 0).fill_(a);
  layout.segment(result.delta, 1).fill_(b);
  result.buffers = std::move(buffers);
  return result;
}

double at_tensor(const Layout& layout, const at::Tensor& flat, std::size_t tensor) {
  return layout.segment(flat, tensor)[0].item<double>();
}

// U04: 33 samples return 0, 64 samples return 97: 97 * 64 / 97 = 64, not 97 / 2.
TEST(UpdateSum, WeighsBySamplesNotByBatches) {
  const Layout layout = two_tensors();
  UpdateSum sum(layout, 1);
  sum.add(update(layout, 0, 0), {{{33}, {33}}}, {1});
  sum.add(update(layout, 97, 97), {{{64}, {64}}}, {1});
  EXPECT_DOUBLE_EQ(at_tensor(layout, sum.combine({1})->step, 0), 64);
}

// Tensor a: (1 * 2 + 3 * 6) / 4 = 5; tensor b: (2 * 2 + 2 * 6) / 4 = 4.
TEST(UpdateSum, NormalizesEachColumnByItself) {
  const Layout layout = two_tensors();
  UpdateSum sum(layout, 1);
  const std::vector<Score> first{{{1, 2}, {1}}}, second{{{3, 2}, {1}}};
  sum.add(update(layout, 2, 2), first, {1});
  sum.add(update(layout, 6, 6), second, {1});
  const auto step = sum.combine({1})->step;
  EXPECT_DOUBLE_EQ(at_tensor(layout, step, 0), 5);
  EXPECT_DOUBLE_EQ(at_tensor(layout, step, 1), 4);
  EXPECT_EQ(sum.weights(first, {1}), (Column{0.25, 0.5}));
  EXPECT_EQ(sum.weights(second, {1}), (Column{0.75, 0.5}));
}

// Shares 1/4 and 3/4 of weights (1/4, 3/4) and (1/2, 1/2): client 0 gets 1/16 + 6/16 = 7/16,
// so 16 and 32 give 7 + 18 = 25.
TEST(UpdateSum, MixesPartsByTheirShares) {
  const Layout layout = two_tensors();
  UpdateSum sum(layout, 2);
  const std::vector<Score> first{{{1}, {1}}, {{5}, {5}}}, second{{{3}, {3}}, {{5}, {5}}};
  sum.add(update(layout, 16, 16), first, {1});
  sum.add(update(layout, 32, 32), second, {1});
  EXPECT_DOUBLE_EQ(at_tensor(layout, sum.combine({0.25, 0.75})->step, 1), 25);
  EXPECT_EQ(sum.weights(first, {0.25, 0.75}), Column{7.0 / 16});
}

// f scales the update, not the weight: (1 * 0.5 * 8 + 1 * 2 * 3) / 2 = 5.
TEST(UpdateSum, FactorsScaleUpdatesOnly) {
  const Layout layout = two_tensors();
  UpdateSum sum(layout, 1);
  sum.add(update(layout, 8, 8), {{{1}, {1}}}, {0.5});
  sum.add(update(layout, 3, 3), {{{1}, {1}}}, {2});
  EXPECT_DOUBLE_EQ(at_tensor(layout, sum.combine({1})->step, 0), 5);
}

// U01: every client reports zero samples.
TEST(UpdateSum, GivesNothingForTotalWeightZero) {
  const Layout layout = two_tensors();
  UpdateSum sum(layout, 1);
  EXPECT_FALSE(sum.combine({1}).has_value());
  sum.add(update(layout, 1, 2), {{{0}, {0}}}, {1});
  sum.add(update(layout, 3, 4), {{{0}, {0}}}, {1});
  EXPECT_FALSE(sum.combine({1}).has_value());
}

// A part whose share is 0 may have total weight 0.
TEST(UpdateSum, LeavesOutPartsWithoutShare) {
  const Layout layout = two_tensors();
  UpdateSum sum(layout, 2);
  sum.add(update(layout, 4, 4), {{{0}, {0}}, {{1}, {1}}}, {1});
  EXPECT_DOUBLE_EQ(at_tensor(layout, sum.combine({0, 1})->step, 0), 4);
}

// U14: running_mean 0 (n = 1) and 10 (n = 3) give 7.5 in either order.
TEST(UpdateSum, AveragesFloatBuffersWhoeverComesFirst) {
  const Layout layout = two_tensors();
  for (const bool swapped : {false, true}) {
    UpdateSum sum(layout, 1);
    for (const int k : {0, 1}) {
      const bool big = (k == 1) != swapped;
      sum.add(update(layout, 0, 0, {at::full({1}, big ? 10.0 : 0.0, at::kFloat)}),
              {{{big ? 3.0 : 1.0}, {big ? 3.0 : 1.0}}}, {1});
    }
    const auto combined = sum.combine({1});
    EXPECT_EQ(combined->buffers[0].scalar_type(), at::kFloat);
    EXPECT_FLOAT_EQ(combined->buffers[0].item<float>(), 7.5F);
  }
}

// U12, U13: counters 10 and 21 with equal weights: 15.5 rounds to even, 16; still int64 and
// still without a dimension.
TEST(UpdateSum, RoundsCountersAndKeepsTypeAndShape) {
  const Layout layout = two_tensors();
  UpdateSum sum(layout, 1);
  for (const std::int64_t count : {10, 21}) {
    sum.add(update(layout, 0, 0, {at::full({}, count, at::kLong)}), {{{2}, {2}}}, {1});
  }
  const auto combined = sum.combine({1});
  EXPECT_EQ(combined->buffers[0].scalar_type(), at::kLong);
  EXPECT_EQ(combined->buffers[0].dim(), 0);
  EXPECT_EQ(combined->buffers[0].item<std::int64_t>(), 16);
}

// float32 updates are summed in double: 1 + 1e-9 is lost in float32.
TEST(UpdateSum, SumsInDoublePrecision) {
  const Layout layout = two_tensors();
  UpdateSum sum(layout, 1);
  for (const double value : {1.0, 1e-9}) {
    ClientUpdate one = update(layout, value, value);
    one.delta = one.delta.to(at::kFloat);
    sum.add(one, {{{1}, {1}}}, {1});
  }
  const double expected = (1 + static_cast<double>(1e-9F)) / 2;
  EXPECT_DOUBLE_EQ(at_tensor(layout, sum.combine({1})->step, 0), expected);
}

}  // namespace
}  // namespace fedvg
