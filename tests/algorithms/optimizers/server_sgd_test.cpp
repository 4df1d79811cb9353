#include <gtest/gtest.h>

#include "algorithms/optimizers/testing.h"
#include "fedvg/method.h"

namespace fedvg {
namespace {

using namespace testing;

void expect_path(const std::vector<double>& got, const std::vector<double>& wanted) {
  ASSERT_EQ(got.size(), wanted.size());
  for (std::size_t i = 0; i < got.size(); ++i) EXPECT_NEAR(got[i], wanted[i], 1e-14) << i;
}

TEST(ServerSgd, TakesTheCombinedStep) {
  expect_path(path(*server("sgd"), {1, -0.25, 2}), {1, 0.75, 2.75});
  expect_path(path(*server("sgd", {{"lr", 0.5}}), {1, -0.25, 2}), {0.5, 0.375, 1.375});
}

// U45: clients that always return the model + 1, momentum 0.9: v = 1, 1.9, 2.71, so the model
// is 1, 2.9, 5.61. A damped v would give 0.1, 0.29, 0.561. The first step goes to the clients.
TEST(ServerSgd, GathersMomentumUndamped) {
  const auto plain = server("sgd", {{"momentum", 0.9}, {"nesterov", false}});
  expect_path(path(*plain, {1, 1, 1}), {1, 2.9, 5.61});
}

// With Nesterov each step is 1 + 0.9 v: 1.9, 2.71, 3.439.
TEST(ServerSgd, LooksAheadByDefault) {
  expect_path(path(*server("sgd", {{"momentum", 0.9}}), {1, 1, 1}), {1.9, 4.61, 8.049});
}

TEST(ServerSgd, IsTheServerOfFedAvgM) {
  const Part part = compose_method("fedavgm").server;
  const auto made = Registry<ServerOptimizer>::instance().make(part);
  expect_path(path(*made, {1, 1, 1}), {1.9, 4.61, 8.049});
}

// U45: momentum 0 at rate 1 is FedAvg bit for bit, with a Nesterov that has nothing to do.
TEST(ServerSgd, WithoutMomentumIsFedAvg) {
  const std::vector<double> steps{0.1, 1e-17, -3.3e5, 1.0 / 3};
  EXPECT_EQ(path(*server("sgd", {{"momentum", 0.0}, {"nesterov", true}}), steps, 0.7),
            path(*server("sgd"), steps, 0.7));
  double w = 0.7;
  std::vector<double> wanted;
  for (const double d : steps) wanted.push_back(w += d);
  EXPECT_EQ(path(*server("sgd"), steps, 0.7), wanted);
}

TEST(ServerSgd, GoesOnFromASavedVelocity) {
  const auto first = server("sgd", {{"momentum", 0.9}}),
             second = server("sgd", {{"momentum", 0.9}});
  path(*first, {1, 1});
  second->restore(first->state());
  EXPECT_EQ(path(*second, {1, 0.5}), path(*first, {1, 0.5}));
  second->restore({});
  expect_path(path(*second, {1}), {1.9});
}

// A round that fails puts the state back: what state() gave must not move with later steps.
TEST(ServerSgd, LeavesASavedVelocityAlone) {
  const auto sgd = server("sgd", {{"momentum", 0.9}});
  path(*sgd, {1});
  const TensorMap saved = sgd->state();
  path(*sgd, {100});
  sgd->restore(saved);
  expect_path(path(*sgd, {1}), {1 + 0.9 * 1.9});
}

TEST(ServerSgd, RefusesOptionsOutOfBounds) {
  EXPECT_THROW(server("sgd", {{"lr", -1.0}}), OptionError);
  EXPECT_THROW(server("sgd", {{"momentum", 1.0}}), OptionError);
}

}  // namespace
}  // namespace fedvg
