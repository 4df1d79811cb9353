#include <gtest/gtest.h>

#include <cmath>

#include "algorithms/optimizers/testing.h"
#include "fedvg/method.h"

namespace fedvg {
namespace {

using namespace testing;

// lr 0.1, beta1 0.9, tau 0.001 throughout; d = 1, then 2, then 0.1:
// m = 0.1, 0.29, 0.271.
double step(double m, double v) { return 0.1 * m / (std::sqrt(v) + 0.001); }

void expect_path(const std::vector<double>& got, const std::vector<double>& moves) {
  ASSERT_EQ(got.size(), moves.size());
  double w = 0;
  for (std::size_t i = 0; i < got.size(); ++i) EXPECT_NEAR(got[i], w += moves[i], 1e-14) << i;
}

// beta2 0.99: v = 0.01 * 1, then 0.0099 + 0.01 * 4 = 0.0499, then 0.049401 + 0.01 * 0.01.
TEST(ServerAdam, DividesByTheRootOfTheMeanSquare) {
  expect_path(path(*server("adam", {{"beta2", 0.99}}), {1, 2, 0.1}),
              {step(0.1, 0.01), step(0.29, 0.0499), step(0.271, 0.049501)});
  EXPECT_NEAR(step(0.1, 0.01), 0.0990099009900990, 1e-15);  // 0.01 / 0.101
}

// v = 0 - 0.01 * 1 * sign(0 - 1) = 0.01, then 0.01 + 0.01 * 4 = 0.05; 0.1^2 = 0.01 lies
// below 0.05, so v falls by 0.01 * 0.01 to 0.0499.
TEST(ServerYogi, MovesTheMeanSquareByAFixedShare) {
  expect_path(path(*server("yogi", {{"beta2", 0.99}}), {1, 2, 0.1}),
              {step(0.1, 0.01), step(0.29, 0.05), step(0.271, 0.0499)});
}

// v = 1, 5, 5.01.
TEST(ServerAdagrad, SumsTheSquares) {
  expect_path(path(*server("adagrad"), {1, 2, 0.1}),
              {step(0.1, 1), step(0.29, 5), step(0.271, 5.01)});
}

// The table's defaults: lr 0.1, beta 0.9 and 0.999, tau 0.001; d = 2: m = 0.2, v = 0.004, no
// bias correction.
TEST(ServerAdaptive, HasTheDefaultsOfTheTable) {
  for (const char* method : {"fedadam", "fedyogi"}) {
    const auto made = Registry<ServerOptimizer>::instance().make(compose_method(method).server);
    EXPECT_NEAR(path(*made, {2})[0], 0.02 / (std::sqrt(0.004) + 1e-3), 1e-15) << method;
  }
  const auto made = Registry<ServerOptimizer>::instance().make(compose_method("fedadagrad").server);
  EXPECT_NEAR(path(*made, {2})[0], 0.02 / 2.001, 1e-15);
}

TEST(ServerAdaptive, StandsStillWithoutAStepFromAFreshStart) {
  for (const char* name : {"adam", "yogi", "adagrad"}) {
    EXPECT_EQ(path(*server(name), {0, 0}, 0.3), (std::vector<double>{0.3, 0.3})) << name;
  }
}

TEST(ServerAdaptive, GoesOnFromASavedStateWhichStaysAsItIs) {
  for (const char* name : {"adam", "yogi", "adagrad"}) {
    const auto first = server(name), second = server(name);
    path(*first, {1, 2});
    const TensorMap saved = first->state();
    second->restore(saved);
    const auto wanted = path(*second, {0.5, -1});
    EXPECT_EQ(path(*first, {0.5, -1}), wanted) << name;
    first->restore(saved);
    EXPECT_EQ(path(*first, {0.5, -1}), wanted) << name;
    first->restore({});
    EXPECT_EQ(path(*first, {1}), path(*server(name), {1})) << name;
  }
}

TEST(ServerAdaptive, RefusesOptionsOutOfBounds) {
  for (const char* name : {"adam", "yogi", "adagrad"}) {
    EXPECT_THROW(server(name, {{"tau", 0.0}}), OptionError);
    EXPECT_THROW(server(name, {{"beta1", 1.0}}), OptionError);
    EXPECT_THROW(server(name, {{"lr", -0.1}}), OptionError);
  }
  EXPECT_THROW(server("adagrad", {{"beta2", 0.9}}), OptionError);
}

}  // namespace
}  // namespace fedvg
