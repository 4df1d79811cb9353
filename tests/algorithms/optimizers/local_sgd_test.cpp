#include <gtest/gtest.h>

#include "algorithms/optimizers/local_testing.h"

namespace fedvg {
namespace {

using namespace testing;

TEST(LocalSgd, StepsAsPyTorchDoes) {
  int cases = 0;
  for (const auto& one : torch_optim()["cases"]) {
    if (one["name"] != "sgd") continue;
    const auto sgd = Registry<LocalOptimizer>::instance().make("sgd", options_of(one));
    EXPECT_LT(apart_from_torch(one, *sgd), 1e-14) << one["options"] << one["rates"];
    ++cases;
  }
  EXPECT_EQ(cases, 12);
}

// From 1 with gradients 1 and 0.5, rate 0.1, momentum 0.9: v = 1, 1.4; w = 0.9, 0.76. With
// Nesterov the steps are 1 + 0.9 and 0.5 + 1.26: w = 0.81, 0.634.
TEST(LocalSgd, GathersMomentum) {
  for (const bool nesterov : {false, true}) {
    const auto sgd = local("sgd", {{"momentum", 0.9}, {"nesterov", nesterov}});
    at::Tensor w = vector({1});
    for (const double g : {1.0, 0.5}) {
      at::Tensor gradient = vector({g});
      sgd->step(w, gradient, 0.1);
    }
    EXPECT_NEAR(numbers(w)[0], nesterov ? 0.634 : 0.76, 1e-15);
  }
}

// U50: the first step after a reset has no velocity.
TEST(LocalSgd, ForgetsItsVelocityForTheNextClient) {
  const auto sgd = local("sgd", {{"momentum", 0.9}});
  at::Tensor w = vector({1}), gradient = vector({5});
  sgd->step(w, gradient, 0.1);
  sgd->reset();
  EXPECT_TRUE(sgd->state().empty());
  w = vector({1});
  gradient = vector({1});
  sgd->step(w, gradient, 0.1);
  EXPECT_DOUBLE_EQ(numbers(w)[0], 0.9);
}

TEST(LocalSgd, GoesOnFromASavedVelocityWhichStaysAsItIs) {
  const auto sgd = local("sgd", {{"momentum", 0.5}});
  at::Tensor w = vector({0}), gradient = vector({1});
  sgd->step(w, gradient, 1);
  const TensorMap saved = sgd->state();
  for (int again = 0; again < 2; ++again) {
    sgd->restore(saved);
    w = vector({0});
    gradient = vector({1});
    sgd->step(w, gradient, 1);  // v = 0.5 + 1
    EXPECT_EQ(numbers(w)[0], -1.5);
  }
}

// Under a gradient of 1: tau; 1 + 1.9 + 2.71 = 5.61; with Nesterov 1.9 + 2.71 + 3.439.
TEST(LocalSgd, KnowsTheLengthOfItsPath) {
  EXPECT_EQ(*local("sgd")->path_length(3), 3);
  EXPECT_EQ(*local("sgd")->path_length(0), 0);
  EXPECT_NEAR(*local("sgd", {{"momentum", 0.9}})->path_length(3), 5.61, 1e-14);
  EXPECT_NEAR(*local("sgd", {{"momentum", 0.9}, {"nesterov", true}})->path_length(3), 8.049, 1e-14);
}

// ... by taking these steps.
TEST(LocalSgd, WalksThePathThatItTells) {
  for (const bool nesterov : {false, true}) {
    const auto sgd = local("sgd", {{"momentum", 0.7}, {"nesterov", nesterov}});
    at::Tensor w = vector({0});
    for (std::int64_t steps = 1; steps <= 6; ++steps) {
      at::Tensor gradient = vector({-1});
      sgd->step(w, gradient, 1);
      EXPECT_NEAR(numbers(w)[0], *sgd->path_length(steps), 1e-14);
    }
  }
}

TEST(LocalSgd, RefusesOptionsOutOfBounds) {
  EXPECT_THROW(local("sgd", {{"nesterov", true}}), OptionError);
  EXPECT_THROW(local("sgd", {{"lr", -0.1}}), OptionError);
  EXPECT_THROW(local("sgd", {{"momentum", 1.0}}), OptionError);
  EXPECT_THROW(local("sgd", {{"weight_decay", -1.0}}), OptionError);
}

TEST(LocalSgd, CountsTheVectorsOfItsState) {
  for (const double momentum : {0.0, 0.9}) {
    const auto sgd = local("sgd", {{"momentum", momentum}});
    at::Tensor w = vector({1, 2}), gradient = vector({5, 6});
    sgd->step(w, gradient, 0.1);
    EXPECT_EQ(sgd->vectors_kept(), static_cast<std::int64_t>(sgd->state().size())) << momentum;
  }
}

}  // namespace
}  // namespace fedvg
