#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "algorithms/corrections/testing.h"

namespace fedvg {
namespace {

using namespace testing;

// mu = 0.5, w_local = 3, w = 1, task gradient 0.25: 0.25 + 0.5 (3 - 1) = 1.25.
TEST(FedProx, PullsToTheGlobalModel) {
  EXPECT_DOUBLE_EQ(corrected(*correction("fedprox", {{"mu", 0.5}}), 3, 1, 0.25), 1.25);
}

// U46: w = (3, 4), global model 0, mu = 2: the gradient of (2 / 2) ||w||^2, a loss of 25, is
// (6, 8). Without the square it would be (0.6, 0.8).
TEST(FedProx, AddsTheGradientOfTheSquaredDistance) {
  LocalRound local({2});
  local.context.parameters = local.vector({{3, 4}});
  const auto fedprox = correction("fedprox", {{"mu", 2.0}});
  fedprox->grad(local.context);
  EXPECT_EQ(local.gradient(), (std::vector<double>{6, 8}));

  // The loss that has this gradient: 25 at w, by the midpoint rule along the line from 0 to w
  // (exact, since the gradient is linear).
  constexpr int kSteps = 100;
  double loss = 0;
  for (int i = 0; i < kSteps; ++i) {
    const double t = (i + 0.5) / kSteps;
    local.context.parameters = local.vector({{3 * t, 4 * t}});
    local.context.gradient.zero_();
    fedprox->grad(local.context);
    loss += (3 * local.gradient()[0] + 4 * local.gradient()[1]) / kSteps;
  }
  EXPECT_NEAR(loss, 25, 1e-12);
}

// The reference is the model received in this round: at w_local = w nothing is added.
TEST(FedProx, AddsNothingAtTheGlobalModel) {
  EXPECT_EQ(corrected(*correction("fedprox", {{"mu", 7.0}}), 1.5, 1.5, 0.25), 0.25);
}

// U47: mu = 0 is FedAvg to the last bit, also where w_local is not finite.
TEST(FedProx, WithoutPullIsFedAvg) {
  const auto fedprox = correction("fedprox", {{"mu", 0.0}});
  EXPECT_EQ(corrected(*fedprox, 3, 1, 0.25), 0.25);
  EXPECT_EQ(corrected(*fedprox, std::numeric_limits<double>::infinity(), 1, 0.25), 0.25);
  EXPECT_TRUE(std::signbit(corrected(*fedprox, 3, 1, -0.0)));
}

TEST(FedProx, DefaultPullIsOneHundredth) {
  EXPECT_DOUBLE_EQ(corrected(*correction("fedprox"), 3, 1, 0.25), 0.27);
}

TEST(FedProx, RefusesANegativePull) {
  EXPECT_THROW(correction("fedprox", {{"mu", -1.0}}), OptionError);
  EXPECT_THROW(correction("fedprox", {{"nu", 1.0}}), OptionError);
}

}  // namespace
}  // namespace fedvg
