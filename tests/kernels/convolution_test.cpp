#include "kernels/convolution.h"

#include <ATen/core/grad_mode.h>
#include <ATen/ops/conv2d.h>
#include <ATen/ops/randn.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "kernels/instruction_set.h"
#include "kernels/layout.h"

namespace fedvg::kernels {
namespace {

struct Case {
  std::int64_t batch, in, height, width, out, kernel, stride, padding;
  bool bias = true;
};

at::Tensor random(const std::vector<std::int64_t>& shape) {
  return plain(at::randn(shape, at::kFloat));
}

double distance(const at::Tensor& a, const at::Tensor& b) {
  const double size = b.norm().item<double>();
  return a.to(at::kDouble).sub(b).norm().item<double>() / (size > 0 ? size : 1);
}

struct Gradients {
  at::Tensor y, x, weight, bias;
};

/// Outputs and gradients of a convolution for the gradient `g` of its output.
template <class Convolve>
Gradients run(const Convolve& convolve, const at::Tensor& x, const at::Tensor& weight,
              const at::Tensor& bias, const at::Tensor& g, bool of_input) {
  Gradients result{.x = x.detach().set_requires_grad(of_input),
                   .weight = weight.detach().set_requires_grad(true)};
  std::optional<at::Tensor> b;
  if (bias.defined()) b = bias.detach().set_requires_grad(true);
  result.y = convolve(result.x, result.weight, b);
  result.y.backward(g);
  result.x = result.x.grad();
  result.weight = result.weight.grad();
  if (b) result.bias = b->grad();
  result.y = result.y.detach();
  return result;
}

class ConvolutionOf : public ::testing::TestWithParam<std::string> {
 protected:
  void SetUp() override { at::manual_seed(1); }

  void compare(const Case& c, bool of_input = true) {
    SCOPED_TRACE(::testing::Message()
                 << "batch " << c.batch << " in " << c.in << " " << c.height << "x" << c.width
                 << " out " << c.out << " kernel " << c.kernel << " stride " << c.stride
                 << " padding " << c.padding);
    const UseKernels use(kernels_of(GetParam()));
    const auto x = random({c.batch, c.in, c.height, c.width});
    const auto weight = random({c.out, c.in, c.kernel, c.kernel});
    const auto bias = c.bias ? at::randn({c.out}) : at::Tensor();
    const auto side = [&](std::int64_t n) { return (n + 2 * c.padding - c.kernel) / c.stride + 1; };
    const auto g = random({c.batch, c.out, side(c.height), side(c.width)});
    const auto own = run([&](const auto& i, const auto& w,
                             const auto& b) { return convolution(i, w, b, c.stride, c.padding); },
                         x, weight, bias, g, of_input);
    const auto wide = [](const at::Tensor& t) { return t.defined() ? t.to(at::kDouble) : t; };
    const auto right = run([&](const auto& i, const auto& w,
                               const auto& b) { return at::conv2d(i, w, b, c.stride, c.padding); },
                           wide(x), wide(weight), wide(bias), wide(g), of_input);
    constexpr double kNear = 2e-6;
    EXPECT_LT(distance(own.y, right.y), kNear);
    EXPECT_LT(distance(own.weight, right.weight), kNear);
    if (of_input) {
      EXPECT_LT(distance(own.x, right.x), kNear);
    }
    if (c.bias) {
      EXPECT_LT(distance(own.bias, right.bias), 2 * kNear);
    }
  }
};

TEST_P(ConvolutionOf, EveryShapeOfTheModels) {
  for (const Case& c :
       {Case{3, 32, 12, 12, 64, 5, 1, 0}, Case{2, 32, 14, 14, 64, 5, 1, 0},
        Case{3, 64, 8, 8, 64, 3, 1, 1, false}, Case{3, 64, 8, 8, 128, 3, 2, 1, false},
        Case{5, 128, 4, 4, 128, 3, 1, 1, false}, Case{9, 128, 4, 4, 256, 3, 2, 1, false},
        Case{10, 256, 2, 2, 256, 3, 1, 1, false}, Case{10, 256, 2, 2, 512, 3, 2, 1, false},
        Case{17, 512, 1, 1, 512, 3, 1, 1, false}, Case{3, 64, 8, 8, 128, 1, 2, 0, false}}) {
    compare(c);
  }
}

TEST_P(ConvolutionOf, EveryBatchSize) {
  for (const std::int64_t batch : {1, 2, 7, 8, 10, 17, 32, 256}) {
    compare({batch, 16, 4, 4, 48, 3, 1, 1});
    compare({batch, 16, 9, 9, 16, 3, 1, 1});
  }
}

TEST_P(ConvolutionOf, OddShapes) {
  for (const std::int64_t height : {1, 3, 7, 11, 16}) {
    for (const std::int64_t width : {1, 2, 5, 8, 13, 16}) {
      for (const std::int64_t stride : {1, 2, 3}) {
        compare({3, 16, height, width, 32, 3, stride, 1});
        compare({3, 48, height, width, 16, 5, stride, 2});
        compare({2, 16, height, width, 80, 1, stride, 0});
      }
    }
  }
}

TEST_P(ConvolutionOf, ImagesOfFewChannels) {
  for (const std::int64_t channels : {1, 2, 3, 5}) {
    compare({4, channels, 16, 18, 32, 5, 1, 0}, false);
    compare({4, channels, 32, 32, 64, 7, 2, 3, false}, false);
    compare({4, channels, 6, 6, 16, 3, 1, 1}, false);
    compare({4, channels, 6, 6, 16, 3, 1, 1}, true);
  }
}

TEST_P(ConvolutionOf, ATapThatMeetsOnlyPaddingHasAGradientOfZero) {
  const UseKernels use(kernels_of(GetParam()));
  const auto x = random({4, 16, 1, 1});
  const auto weight = random({16, 16, 3, 3}).set_requires_grad(true);
  convolution(x, weight, {}, 1, 1).sum().backward();
  auto grad = weight.grad().clone();
  EXPECT_GT(grad.select(2, 1).select(2, 1).abs().min().item<float>(), 0);
  grad.select(2, 1).select(2, 1).zero_();
  EXPECT_EQ(grad.abs().max().item<float>(), 0);
}

// As libtorch's: what a number that is not finite touches is not finite either, the rest is
// untouched.
TEST_P(ConvolutionOf, NumbersThatAreNotFiniteStayInTheirReach) {
  const UseKernels use(kernels_of(GetParam()));
  for (const float value :
       {std::numeric_limits<float>::quiet_NaN(), std::numeric_limits<float>::infinity()}) {
    auto x = random({2, 16, 6, 6});
    x[1][3][0][0] = value;
    const auto weight = random({16, 16, 3, 3});
    const auto own = convolution(x, weight, {}, 1, 1);
    const auto right = at::conv2d(x, weight, {}, 1, 1);
    EXPECT_TRUE(own.isfinite().equal(right.isfinite()));
    EXPECT_TRUE(own.isnan().equal(right.isnan()));
    EXPECT_EQ(own.isfinite().logical_not().sum().item<int>(), 16 * 4);
  }
}

TEST_P(ConvolutionOf, TheGradientMayComeInAnyLayout) {
  const UseKernels use(kernels_of(GetParam()));
  const auto x = random({3, 16, 4, 4});
  const auto weight = random({32, 16, 3, 3});
  const auto g = random({3, 32, 4, 4});
  const auto convolve = [](const auto& i, const auto& w, const auto& b) {
    return convolution(i, w, b, 1, 1);
  };
  const auto one = run(convolve, x, weight, {}, g, true);
  const auto two = run(convolve, x, weight, {}, g.contiguous(at::MemoryFormat::Contiguous), true);
  EXPECT_TRUE(one.x.equal(two.x));
  EXPECT_TRUE(one.weight.equal(two.weight));
  const auto sum = convolution(x, weight.detach().set_requires_grad(true), {}, 1, 1).sum();
  sum.backward();  // an expanded gradient: strides 0
}

INSTANTIATE_TEST_SUITE_P(Instances, ConvolutionOf, ::testing::ValuesIn(instruction_sets()),
                         [](const auto& instance) { return instance.param; });

TEST(Convolution, IsLibtorchsOwnWhereTheLoopsDoNotServe) {
  at::manual_seed(1);
  const auto check = [](const at::Tensor& x, const at::Tensor& weight, std::int64_t padding) {
    const auto right = at::conv2d(x, weight, {}, 1, padding);
    for (const auto& name : instruction_sets()) {
      const UseKernels use(kernels_of(name));
      EXPECT_TRUE(convolution(x, weight, {}, 1, padding).equal(right)) << name;
    }
  };
  const auto x = random({2, 16, 6, 6}), weight = random({16, 16, 3, 3});
  check(x.to(at::kDouble), weight.to(at::kDouble), 1);
  check(x.contiguous(at::MemoryFormat::Contiguous), weight, 1);
  check(x, weight.contiguous(at::MemoryFormat::Contiguous), 1);
  check(random({2, 16, 40, 40}), weight, 1);                // large maps
  check(random({2, 16, 6, 6}), random({20, 16, 3, 3}), 1);  // channels
}

TEST(InstructionSet, KeepsToItsThreadAndScope) {
  EXPECT_EQ(active(), nullptr);
  {
    const UseKernels outer(kernels_of("auto"));
    const auto* best = active();
    {
      const UseKernels inner(kernels_of("aten"));
      EXPECT_EQ(active(), nullptr);
    }
    EXPECT_EQ(active(), best);
  }
  EXPECT_EQ(active(), nullptr);
}

}  // namespace
}  // namespace fedvg::kernels
