#include "kernels/convolution_relu_pool.h"

#include <ATen/core/grad_mode.h>
#include <ATen/ops/conv2d.h>
#include <ATen/ops/max_pool2d.h>
#include <ATen/ops/randint.h>
#include <ATen/ops/randn.h>
#include <ATen/ops/relu.h>
#include <ATen/ops/zeros.h>
#include <gtest/gtest.h>

#include <limits>

#include "kernels/convolution.h"
#include "kernels/instruction_set.h"
#include "kernels/layout.h"
#include "kernels/one_thread.h"
#include "kernels/relu_max_pool.h"

namespace fedvg::kernels {
namespace {

struct Case {
  std::int64_t batch, in, height, width, out, kernel_h, kernel_w;
  bool bias = true;
};

at::Tensor random(const std::vector<std::int64_t>& shape) {
  return plain(at::randn(shape, at::kFloat));
}

/// Of small whole numbers, whose products and sums are exact: the pool chooses as in float64.
at::Tensor whole(const std::vector<std::int64_t>& shape, std::int64_t least, std::int64_t end) {
  return plain(at::randint(least, end, shape, at::kFloat));
}

double distance(const at::Tensor& a, const at::Tensor& b) {
  const double size = b.norm().item<double>();
  return a.to(at::kDouble).sub(b).norm().item<double>() / (size > 0 ? size : 1);
}

at::Tensor by_libtorch(const at::Tensor& x, const at::Tensor& weight,
                       const std::optional<at::Tensor>& bias) {
  return at::max_pool2d(at::relu(at::conv2d(x, weight, bias)), 2);
}

struct Result {
  at::Tensor y, weight, bias;
};

/// Outputs and gradients for the gradient `g` of the output.
template <class Layer>
Result run(const Layer& layer, const at::Tensor& x, const at::Tensor& weight,
           const at::Tensor& bias, const at::Tensor& g) {
  const auto w = weight.detach().set_requires_grad(true);
  std::optional<at::Tensor> b;
  if (bias.defined()) b = bias.detach().set_requires_grad(true);
  const auto y = layer(x, w, b);
  y.backward(g);
  return {y.detach(), w.grad(), b ? b->grad() : at::Tensor()};
}

Result in_double(const at::Tensor& x, const at::Tensor& weight, const at::Tensor& bias,
                 const at::Tensor& g) {
  const auto wide = [](const at::Tensor& t) { return t.defined() ? t.to(at::kDouble) : t; };
  return run(by_libtorch, wide(x), wide(weight), wide(bias), wide(g));
}

at::Tensor gradient_like(const at::Tensor& x, const at::Tensor& weight) {
  return random({x.size(0), weight.size(0), (x.size(2) - weight.size(2) + 1) / 2,
                 (x.size(3) - weight.size(3) + 1) / 2});
}

class ConvolutionReluPoolOf : public ::testing::TestWithParam<std::string> {
 protected:
  void SetUp() override { at::manual_seed(1); }

  const OneThread one_thread_;

  void compare(const at::Tensor& x, const at::Tensor& weight, const at::Tensor& bias) {
    // libtorch's own gradients are sums of thousands in a row.
    const double near = GetParam() == "aten" ? 3e-6 : 1e-6;
    const UseKernels use(kernels_of(GetParam()));
    const auto g = gradient_like(x, weight);
    const auto own = run(convolution_relu_pool, x, weight, bias, g);
    const auto right = in_double(x, weight, bias, g);
    EXPECT_LT(distance(own.y, right.y), near);
    EXPECT_LT(distance(own.weight, right.weight), near);
    if (bias.defined()) {
      EXPECT_LT(distance(own.bias, right.bias), near);
    }
    const at::NoGradGuard no_gradient;
    const auto b = bias.defined() ? std::optional(bias) : std::nullopt;
    EXPECT_TRUE(convolution_relu_pool(x, weight, b).equal(own.y));
  }

  void compare(const Case& c) {
    SCOPED_TRACE(::testing::Message()
                 << "batch " << c.batch << " in " << c.in << " " << c.height << "x" << c.width
                 << " out " << c.out << " kernel " << c.kernel_h << "x" << c.kernel_w);
    compare(whole({c.batch, c.in, c.height, c.width}, -4, 5),
            whole({c.out, c.in, c.kernel_h, c.kernel_w}, -4, 5),
            c.bias ? whole({c.out, 1, 1, 1}, -9, 10).flatten() : at::Tensor());
  }
};

TEST_P(ConvolutionReluPoolOf, EveryBatchSize) {
  for (const std::int64_t batch : {1, 10, 17, 32, 256}) {
    compare({batch, 1, 12, 12, 32, 5, 5});
    compare({batch, 3, 8, 8, 16, 3, 3});
  }
  compare({32, 1, 28, 28, 32, 5, 5});
  compare({10, 3, 32, 32, 32, 5, 5});
}

TEST_P(ConvolutionReluPoolOf, EveryNumberOfChannels) {
  for (std::int64_t in = 1; in <= 9; ++in) {
    for (const std::int64_t out : {16, 32, 48, 64, 80}) compare({2, in, 9, 8, out, 3, 3});
  }
}

TEST_P(ConvolutionReluPoolOf, EveryKernelAndOddSizes) {
  for (std::int64_t kernel = 1; kernel <= 7; ++kernel) {
    for (const std::int64_t in : {1, 3}) {
      compare({3, in, kernel + 1, kernel + 1, 16, kernel, kernel});  // one window
      compare({3, in, kernel + 2, kernel + 7, 48, kernel, kernel, false});
      compare({3, in, 11, 12, 32, kernel, 8 - kernel});
      compare({3, in, 12, 13, 16, 8 - kernel, kernel});
    }
  }
}

// Only the outputs: rounding may choose another of two equal pixels for the gradient.
TEST_P(ConvolutionReluPoolOf, NumbersThatAreRounded) {
  const UseKernels use(kernels_of(GetParam()));
  for (const std::int64_t in : {1, 3}) {
    const auto x = random({17, in, 14, 14}), weight = random({32, in, 5, 5});
    const auto bias = at::randn({32});
    const auto right = by_libtorch(x.to(at::kDouble), weight.to(at::kDouble), bias.to(at::kDouble));
    EXPECT_LT(distance(convolution_relu_pool(x, weight, bias), right), 1e-6);
  }
}

TEST_P(ConvolutionReluPoolOf, NumbersThatAreNotFiniteStayInTheirReach) {
  constexpr float kInfinity = std::numeric_limits<float>::infinity();
  const UseKernels use(kernels_of(GetParam()));
  for (const float value : {std::numeric_limits<float>::quiet_NaN(), kInfinity, -kInfinity}) {
    auto x = whole({2, 3, 9, 9}, -4, 5);
    x[1][2][4][4] = value;
    const auto weight = whole({16, 3, 3, 3}, -4, 5);
    const auto bias = whole({16, 1, 1, 1}, -9, 10).flatten();
    const auto g = gradient_like(x, weight);
    const auto own = run(convolution_relu_pool, x, weight, bias, g);
    const auto right = in_double(x, weight, bias, g);
    EXPECT_TRUE(own.y.isnan().equal(right.y.isnan()));
    EXPECT_TRUE(own.y.isinf().equal(right.y.isinf()));
    EXPECT_FALSE(own.y.isfinite().all().item<bool>());
    EXPECT_TRUE(own.weight.isfinite().equal(right.weight.isfinite()));
    EXPECT_LT(distance(own.y.isfinite().mul(own.y).nan_to_num(0, 0, 0),
                       right.y.isfinite().mul(right.y).nan_to_num(0, 0, 0)),
              1e-6);
  }
}

TEST_P(ConvolutionReluPoolOf, DeadWindowsPassNoGradient) {
  const UseKernels use(kernels_of(GetParam()));
  const auto x = random({3, 1, 10, 10}), weight = random({16, 1, 5, 5});
  const auto g = gradient_like(x, weight);
  const auto own = run(convolution_relu_pool, x, weight, at::zeros({16}).fill_(-1e4F), g);
  EXPECT_EQ(own.y.abs().max().item<float>(), 0);
  EXPECT_EQ(own.weight.abs().max().item<float>(), 0);
  EXPECT_EQ(own.bias.abs().max().item<float>(), 0);
}

TEST_P(ConvolutionReluPoolOf, OnlyWhatIsAskedForHasAGradient) {
  const UseKernels use(kernels_of(GetParam()));
  const auto x = whole({3, 1, 10, 10}, -4, 5), weight = whole({16, 1, 5, 5}, -4, 5);
  const auto bias = whole({16, 1, 1, 1}, -9, 10).flatten();
  const auto g = gradient_like(x, weight);
  const auto right = in_double(x, weight, bias, g);
  const auto b = bias.detach().set_requires_grad(true);
  convolution_relu_pool(x, weight, b).backward(g);
  EXPECT_LT(distance(b.grad(), right.bias), 1e-6);
  EXPECT_FALSE(weight.grad().defined());
  const auto w = weight.detach().set_requires_grad(true);
  convolution_relu_pool(x, w, bias).backward(g);
  EXPECT_LT(distance(w.grad(), right.weight), 1e-6);
  EXPECT_FALSE(convolution_relu_pool(x, weight, bias).requires_grad());
}

TEST_P(ConvolutionReluPoolOf, TheGradientMayComeInAnyLayoutAndAfterTheScope) {
  const auto x = whole({3, 3, 10, 10}, -4, 5), weight = whole({32, 3, 5, 5}, -4, 5);
  const auto g = gradient_like(x, weight), right = in_double(x, weight, {}, g).weight;
  const auto w = weight.detach().set_requires_grad(true);
  at::Tensor y;
  {
    const UseKernels use(kernels_of(GetParam()));
    y = convolution_relu_pool(x, w, {});
  }
  y.backward(g.contiguous(at::MemoryFormat::Contiguous));
  EXPECT_LT(distance(w.grad(), right), 1e-6);
  const auto b = at::zeros({32}).set_requires_grad(true);
  const UseKernels use(kernels_of(GetParam()));
  y = convolution_relu_pool(x, weight, b);
  y.sum().backward();  // an expanded gradient: strides 0
  EXPECT_TRUE(b.grad().equal(y.gt(0).sum({0, 2, 3}).to(at::kFloat)));
}

// The input's gradient too, by the two operators that this one joins.
TEST_P(ConvolutionReluPoolOf, AnInputThatNeedsAGradientGetsIt) {
  const UseKernels use(kernels_of(GetParam()));
  const auto x = whole({3, 3, 10, 10}, -4, 5), weight = whole({32, 3, 5, 5}, -4, 5);
  const auto g = gradient_like(x, weight);
  const auto leaf = x.detach().set_requires_grad(true);
  convolution_relu_pool(leaf.mul(2), weight, {}).backward(g);
  const auto right = x.to(at::kDouble).set_requires_grad(true);
  by_libtorch(right.mul(2), weight.to(at::kDouble), {}).backward(g.to(at::kDouble));
  EXPECT_LT(distance(leaf.grad(), right.grad()), 1e-6);
}

INSTANTIATE_TEST_SUITE_P(Instances, ConvolutionReluPoolOf, ::testing::ValuesIn(instruction_sets()),
                         [](const auto& instance) { return instance.param; });

TEST(ConvolutionReluPool, IsTheTwoOperatorsWhereTheLoopsDoNotServe) {
  at::manual_seed(1);
  const auto x = random({2, 3, 20, 20}), weight = random({16, 3, 3, 3}), bias = at::randn({16});
  for (const auto& name : instruction_sets()) {
    const UseKernels use(kernels_of(name));
    const auto check = [&](const at::Tensor& images, const at::Tensor& w, const at::Tensor& b) {
      const auto right = relu_max_pool(convolution(images, w, b, 1, 0));
      const auto own = convolution_relu_pool(images, w, b);
      EXPECT_EQ(own.strides(), right.strides()) << name;
      EXPECT_TRUE(own.equal(right)) << name;
    };
    check(x.to(at::kDouble), weight.to(at::kDouble), bias.to(at::kDouble));
    check(x.contiguous(at::MemoryFormat::Contiguous), weight, bias);
    check(x, weight.contiguous(at::MemoryFormat::Contiguous), bias);
    check(x, random({20, 3, 3, 3}), at::randn({20}));            // channels
    check(random({2, 9, 20, 20}), random({16, 9, 3, 3}), bias);  // not an image
    EXPECT_ANY_THROW(convolution_relu_pool(x, random({16, 2, 3, 3}), bias));
    EXPECT_ANY_THROW(convolution_relu_pool(x, random({16, 3, 20, 20}), bias));
  }
}

}  // namespace
}  // namespace fedvg::kernels
