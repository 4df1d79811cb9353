#include <gtest/gtest.h>

#include "algorithms/optimizers/local_testing.h"

namespace fedvg {
namespace {

using namespace testing;

TEST(LocalAdam, StepsAsPyTorchDoes) {
  int cases = 0;
  for (const auto& one : torch_optim()["cases"]) {
    if (one["name"] == "sgd") continue;
    const auto adam = Registry<LocalOptimizer>::instance().make(one["name"], options_of(one));
    EXPECT_LT(apart_from_torch(one, *adam), 1e-14) << one["name"] << one["options"] << one["rates"];
    ++cases;
  }
  EXPECT_EQ(cases, 16);
}

// The first step is rate * g / (|g| + eps) whatever the gradient: m / (1 - beta1) = g and
// v / (1 - beta2) = g^2.
TEST(LocalAdam, FirstStepHasTheLengthOfTheRate) {
  at::Tensor w = vector({1, 1}), gradient = vector({100, -1e-4});
  local("adam")->step(w, gradient, 0.1);
  EXPECT_NEAR(numbers(w)[0], 0.9, 1e-10);
  EXPECT_NEAR(numbers(w)[1], 1 + 0.1 * 1e-4 / (1e-4 + 1e-8), 1e-12);
}

// U50: the next client starts anew, with t = 1.
TEST(LocalAdam, ForgetsEverythingForTheNextClient) {
  const auto adam = local("adam"), fresh = local("adam");
  at::Tensor w = vector({1}), gradient = vector({5});
  adam->step(w, gradient, 0.1);
  adam->reset();
  EXPECT_TRUE(adam->state().empty());
  at::Tensor a = vector({1}), b = vector({1}), g = vector({2}), h = vector({2});
  adam->step(a, g, 0.1);
  fresh->step(b, h, 0.1);
  EXPECT_EQ(numbers(a), numbers(b));
}

TEST(LocalAdam, GoesOnFromASavedStateWhichStaysAsItIs) {
  for (const char* name : {"adam", "adamw"}) {
    const auto adam = local(name), other = local(name);
    at::Tensor w = vector({1}), gradient = vector({5});
    adam->step(w, gradient, 0.1);
    const TensorMap saved = adam->state();
    std::vector<std::vector<double>> ends;
    for (LocalOptimizer* one : {adam.get(), other.get(), adam.get()}) {
      one->restore(saved);
      at::Tensor v = vector({1}), g = vector({-2});
      one->step(v, g, 0.1);
      ends.push_back(numbers(v));
    }
    EXPECT_EQ(ends[0], ends[1]) << name;
    EXPECT_EQ(ends[0], ends[2]) << name;
  }
}

// AdamW: w shrinks by rate * decay before the step, Adam's gradient grows instead.
TEST(LocalAdam, DecaysTheWeightsInItsOwnWay) {
  at::Tensor w = vector({2}), gradient = vector({0});
  local("adamw", {{"weight_decay", 0.5}})->step(w, gradient, 0.1);
  EXPECT_DOUBLE_EQ(numbers(w)[0], 1.9);
  w = vector({2});
  gradient = vector({0});
  local("adam", {{"weight_decay", 0.5}})->step(w, gradient, 0.1);
  EXPECT_NEAR(numbers(w)[0], 1.9, 1e-8);  // a gradient of 1, a step of the rate's length
}

TEST(LocalAdam, CountsTheVectorsOfItsState) {
  const auto adam = local("adam");
  at::Tensor w = vector({1, 2}), gradient = vector({5, 6});
  adam->step(w, gradient, 0.1);
  std::int64_t found = 0;
  for (const auto& [name, tensor] : adam->state()) found += tensor.numel() == 2;
  EXPECT_EQ(adam->vectors_kept(), found);
}

TEST(LocalAdam, KnowsNoLengthOfItsPath) {
  EXPECT_FALSE(local("adam")->path_length(1).has_value());
  EXPECT_FALSE(local("adamw")->path_length(1).has_value());
}

TEST(LocalAdam, RefusesOptionsOutOfBounds) {
  EXPECT_THROW(local("adam", {{"beta1", 1.0}}), OptionError);
  EXPECT_THROW(local("adam", {{"eps", 0.0}}), OptionError);
  EXPECT_THROW(local("adamw", {{"weight_decay", -1.0}}), OptionError);
  EXPECT_THROW(local("adam", {{"momentum", 0.9}}), OptionError);
}

}  // namespace
}  // namespace fedvg
