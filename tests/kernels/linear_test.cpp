#include "kernels/linear.h"

#include <ATen/core/grad_mode.h>
#include <ATen/ops/linear.h>
#include <ATen/ops/randn.h>
#include <gtest/gtest.h>

#include <cstdlib>
#include <limits>

#include "kernels/instruction_set.h"
#include "kernels/one_thread.h"

namespace fedvg::kernels {
namespace {

double distance(const at::Tensor& a, const at::Tensor& b) {
  const double size = b.norm().item<double>();
  return a.to(at::kDouble).sub(b).norm().item<double>() / (size > 0 ? size : 1);
}

at::Tensor by_libtorch(const at::Tensor& x, const at::Tensor& weight,
                       const std::optional<at::Tensor>& bias) {
  return at::linear(x, weight, bias);
}

struct Result {
  at::Tensor y, x, weight, bias;
};

/// Outputs and gradients for the gradient `g` of the output. The input is no leaf.
template <class Linear>
Result run(const Linear& linear_of, const at::Tensor& x, const at::Tensor& weight,
           const at::Tensor& bias, const at::Tensor& g, bool of_input = true) {
  const auto leaf = x.detach().set_requires_grad(of_input);
  const auto w = weight.detach().set_requires_grad(true);
  std::optional<at::Tensor> b;
  if (bias.defined()) b = bias.detach().set_requires_grad(true);
  const auto y = linear_of(of_input ? leaf.mul(2) : leaf, w, b);
  y.backward(g);
  return {y.detach(), leaf.grad(), w.grad(), b ? b->grad() : at::Tensor()};
}

/// The parts of `own` against float64.
void compare(const Result& own, const at::Tensor& x, const at::Tensor& weight,
             const at::Tensor& bias, const at::Tensor& g) {
  const auto wide = [](const at::Tensor& t) { return t.defined() ? t.to(at::kDouble) : t; };
  const auto right = run(by_libtorch, wide(x), wide(weight), wide(bias), wide(g), own.x.defined());
  constexpr double kNear = 1e-6;
  EXPECT_LT(distance(own.y, right.y), kNear);
  EXPECT_LT(distance(own.weight, right.weight), kNear);
  if (own.x.defined()) {
    EXPECT_LT(distance(own.x, right.x), kNear);
  }
  ASSERT_EQ(own.bias.defined(), bias.defined());
  if (bias.defined()) {
    EXPECT_LT(distance(own.bias, right.bias), kNear);
  }
}

class LinearByOneDnn : public ::testing::Test {
  const OneThread one_thread_;
};

TEST_F(LinearByOneDnn, EveryBatchSizeAndShape) {
  at::manual_seed(1);
  for (const std::int64_t batch : {1, 10, 17, 32, 256}) {
    for (const auto& [in, out] : {std::pair{512, 10}, {200, 200}, {63, 33}, {1, 1}, {7, 1}}) {
      SCOPED_TRACE(::testing::Message() << batch << ": " << in << " to " << out);
      auto x = at::randn({batch, in}), g = at::randn({batch, out});
      const auto weight = at::randn({out, in}), bias = at::randn({out});
      if (out == 1) {  // a gradient that is one sum: its terms must not cancel
        x.abs_();
        g.abs_();
      }
      compare(run(linear_by_onednn, x, weight, bias, g), x, weight, bias, g);
      compare(run(linear_by_onednn, x, weight, {}, g), x, weight, {}, g);
      compare(run(linear_by_onednn, x, weight, bias, g, false), x, weight, bias, g);
    }
  }
  const auto x = at::randn({32, 1024}), weight = at::randn({512, 1024});
  const auto bias = at::randn({512}), g = at::randn({32, 512});
  compare(run(linear_by_onednn, x, weight, bias, g), x, weight, bias, g);
}

TEST_F(LinearByOneDnn, TheGradientMayComeInAnyLayout) {
  at::manual_seed(1);
  const auto x = at::randn({10, 64}), weight = at::randn({16, 64}), bias = at::randn({16});
  const auto g = at::randn({16, 10}).t();
  compare(run(linear_by_onednn, x, weight, bias, g), x, weight, bias, g);
  const auto ones = at::randn({1, 1}).expand({10, 16});  // strides 0
  compare(run(linear_by_onednn, x, weight, bias, ones), x, weight, bias, ones);
}

TEST_F(LinearByOneDnn, OnlyWhatIsAskedForHasAGradient) {
  at::manual_seed(1);
  const auto x = at::randn({10, 64}), weight = at::randn({16, 64});
  const auto bias = at::randn({16}).set_requires_grad(true);
  linear_by_onednn(x, weight, bias).sum().backward();
  EXPECT_TRUE(bias.grad().equal(at::randn({1}).fill_(10).expand({16})));
  EXPECT_FALSE(x.grad().defined());
  EXPECT_FALSE(weight.grad().defined());
  EXPECT_FALSE(linear_by_onednn(x, weight, bias.detach()).requires_grad());
  const at::NoGradGuard no_gradient;
  const auto y = linear_by_onednn(x, weight, bias);
  EXPECT_FALSE(y.requires_grad());
  EXPECT_LT(
      distance(y, at::linear(x.to(at::kDouble), weight.to(at::kDouble), bias.to(at::kDouble))),
      1e-6);
}

TEST_F(LinearByOneDnn, NumbersThatAreNotFiniteStayInTheirReach) {
  at::manual_seed(1);
  for (const float value :
       {std::numeric_limits<float>::quiet_NaN(), std::numeric_limits<float>::infinity()}) {
    auto x = at::randn({10, 64});
    x[3][5] = value;
    const auto weight = at::randn({16, 64}), bias = at::randn({16}), g = at::randn({10, 16});
    const auto own = run(linear_by_onednn, x, weight, bias, g);
    const auto right = run(by_libtorch, x, weight, bias, g);
    EXPECT_TRUE(own.y.isfinite().equal(right.y.isfinite()));
    EXPECT_TRUE(own.y.isnan().equal(right.y.isnan()));
    EXPECT_TRUE(own.weight.isfinite().equal(right.weight.isfinite()));
    EXPECT_EQ(own.y.isfinite().logical_not().sum().item<int>(), 16);
  }
}

TEST_F(LinearByOneDnn, IsLibtorchsOwnForOtherTensors) {
  at::manual_seed(1);
  const auto check = [](const at::Tensor& x, const at::Tensor& weight, const at::Tensor& bias) {
    EXPECT_TRUE(linear_by_onednn(x, weight, bias).equal(at::linear(x, weight, bias)));
  };
  const auto x = at::randn({10, 64}), weight = at::randn({16, 64}), bias = at::randn({16});
  check(x.to(at::kDouble), weight.to(at::kDouble), bias.to(at::kDouble));
  check(x.view({2, 5, 64}), weight, bias);
  check(x[0], weight, bias);
  check(at::randn({64, 10}).t(), weight, bias);
  check(x, at::randn({64, 16}).t(), bias);
  check(at::randn({0, 64}), weight, bias);
  EXPECT_ANY_THROW(linear_by_onednn(x, at::randn({16, 63}), bias));
  EXPECT_ANY_THROW(linear_by_onednn(x, weight, at::randn({15})));
}

// oneDNN reads its environment when it is loaded: it has to be a process that starts with it.
TEST(LinearByOneDnnDeathTest, NeverRoundsToBf16WhateverTheEnvironmentAllows) {
  GTEST_FLAG_SET(death_test_style, "threadsafe");
  const auto check = [] {
    const auto x = at::randn({64, 512}), weight = at::randn({128, 512});
    const auto right = at::linear(x.to(at::kDouble), weight.to(at::kDouble));
    std::exit(distance(linear_by_onednn(x, weight, {}), right) < 1e-6 ? 0 : 1);
  };
  for (const char* name : {"ONEDNN_DEFAULT_FPMATH_MODE", "DNNL_DEFAULT_FPMATH_MODE"}) {
    setenv(name, "BF16", 1);
    EXPECT_EXIT(check(), ::testing::ExitedWithCode(0), "") << name;
    unsetenv(name);
  }
}

TEST(Linear, IsAtLinearInEveryInstance) {
  const OneThread one_thread;
  at::manual_seed(1);
  for (const auto& name : instruction_sets()) {
    const UseKernels use(kernels_of(name));
    for (const std::int64_t batch : {1, 10, 64}) {
      for (const auto& [in, out] : {std::pair{1024, 512}, {512, 10}}) {
        SCOPED_TRACE(::testing::Message() << name << " " << batch << ": " << in << " to " << out);
        const auto x = at::randn({batch, in}), weight = at::randn({out, in});
        const auto bias = at::randn({out}), g = at::randn({batch, out});
        const auto own = run(linear, x, weight, bias, g);
        compare(own, x, weight, bias, g);
        if (!active() || out == 10) {
          EXPECT_TRUE(own.y.equal(run(by_libtorch, x, weight, bias, g).y));
        }
      }
    }
    EXPECT_ANY_THROW(kernels::linear(at::randn({2, 8}), at::randn({2, 7}), {}));
  }
}

}  // namespace
}  // namespace fedvg::kernels
