#include "kernels/relu_max_pool.h"

#include <ATen/core/grad_mode.h>
#include <ATen/ops/max_pool2d.h>
#include <ATen/ops/randint.h>
#include <ATen/ops/randn.h>
#include <ATen/ops/relu.h>
#include <ATen/ops/tensor.h>
#include <gtest/gtest.h>

#include <limits>

#include "kernels/instruction_set.h"
#include "kernels/layout.h"
#include "kernels/one_thread.h"

namespace fedvg::kernels {
namespace {

constexpr float kNan = std::numeric_limits<float>::quiet_NaN();
constexpr float kInfinity = std::numeric_limits<float>::infinity();

at::Tensor by_libtorch(const at::Tensor& x) { return at::max_pool2d(at::relu(x), 2); }

/// Equal element by element, where NaN equals NaN.
bool same(const at::Tensor& a, const at::Tensor& b) {
  return a.sizes() == b.sizes() && a.isnan().equal(b.isnan()) &&
         a.nan_to_num(7, 8, 9).equal(b.nan_to_num(7, 8, 9));
}

struct Result {
  at::Tensor y, gx;
};

template <class Pool>
Result run(const Pool& pool, const at::Tensor& x, const at::Tensor& g) {
  const at::Tensor leaf = x.detach().set_requires_grad(true);
  const at::Tensor y = pool(leaf);
  y.backward(g);
  return {y.detach(), leaf.grad()};
}

class ReluMaxPoolOf : public ::testing::TestWithParam<std::string> {
 protected:
  void SetUp() override { at::manual_seed(1); }

  const OneThread one_thread_;

  void compare(const at::Tensor& x) {
    SCOPED_TRACE(::testing::Message() << x.sizes());
    const UseKernels use(kernels_of(GetParam()));
    const auto g = plain(at::randn({x.size(0), x.size(1), x.size(2) / 2, x.size(3) / 2}));
    const auto own = run(relu_max_pool, x, g), right = run(by_libtorch, x, g);
    EXPECT_TRUE(same(own.y, right.y));
    EXPECT_TRUE(same(own.gx, right.gx));
    const at::NoGradGuard no_gradient;
    EXPECT_TRUE(same(relu_max_pool(x), right.y));
  }
};

TEST_P(ReluMaxPoolOf, EveryBatchSizeAndChannels) {
  for (const std::int64_t batch : {1, 10, 17, 32, 256}) {
    for (const std::int64_t channels : {16, 32, 48, 64}) {
      compare(plain(at::randn({batch, channels, 4, 4})));
    }
  }
  compare(plain(at::randn({32, 32, 24, 24})));
}

TEST_P(ReluMaxPoolOf, AnyNumberOfChannels) {
  for (std::int64_t channels = 1; channels <= 35; ++channels) {
    compare(plain(at::randn({3, channels, 4, 6})));
  }
}

TEST_P(ReluMaxPoolOf, OddSizes) {
  for (std::int64_t height = 2; height <= 7; ++height) {
    for (std::int64_t width = 2; width <= 7; ++width) {
      for (const std::int64_t channels : {5, 16, 20}) {
        compare(plain(at::randn({3, channels, height, width})));
      }
    }
  }
}

// Of few different numbers most windows have ties, and many are dead.
TEST_P(ReluMaxPoolOf, Ties) {
  for (const std::int64_t channels : {7, 32}) {
    compare(plain(at::randint(-2, 3, {10, channels, 8, 9}).to(at::kFloat)));
  }
}

TEST_P(ReluMaxPoolOf, NumbersThatAreNotFinite) {
  const at::Tensor values = at::tensor({-kInfinity, -1.F, -0.F, 0.F, 1.F, kInfinity, kNan});
  for (const std::int64_t channels : {7, 32}) {
    const auto drawn = at::randint(0, 7, {17, channels, 8, 9}, at::kLong);
    compare(plain(values.index({drawn})));
  }
}

TEST_P(ReluMaxPoolOf, AWindowByHand) {
  const UseKernels use(kernels_of(GetParam()));
  // Channels: the second of two maxima is not taken; dead by 0; the last NaN; infinity.
  const auto x = plain(at::tensor({-1.F, 3.F, 3.F, 2.F,          //
                                   -1.F, 0.F, -kInfinity, -0.F,  //
                                   kNan, 1.F, kNan, kInfinity,   //
                                   kInfinity, 1.F, 2.F, kInfinity})
                           .view({1, 4, 2, 2}));
  const auto g = plain(at::tensor({10.F, 20.F, 30.F, kNan}).view({1, 4, 1, 1}));
  const auto own = run(relu_max_pool, x, g);
  EXPECT_TRUE(same(own.y.flatten(), at::tensor({3.F, 0.F, kNan, kInfinity})));
  EXPECT_TRUE(same(own.gx.contiguous(at::MemoryFormat::Contiguous).flatten(),
                   at::tensor({0.F, 10.F, 0.F, 0.F,  //
                               0.F, 0.F, 0.F, 0.F,   //
                               0.F, 0.F, 30.F, 0.F,  //
                               kNan, 0.F, 0.F, 0.F})));
}

TEST_P(ReluMaxPoolOf, TheGradientMayComeInAnyLayout) {
  const UseKernels use(kernels_of(GetParam()));
  const auto x = plain(at::randn({3, 16, 5, 4}));
  const auto g = plain(at::randn({3, 16, 2, 2}));
  const auto right = run(by_libtorch, x, g);
  EXPECT_TRUE(same(run(relu_max_pool, x, g.contiguous(at::MemoryFormat::Contiguous)).gx, right.gx));
  const auto leaf = x.detach().set_requires_grad(true);
  relu_max_pool(leaf).sum().backward();  // an expanded gradient: strides 0
  EXPECT_EQ(leaf.grad().sum().item<float>(), right.y.gt(0).sum().item<float>());
}

TEST_P(ReluMaxPoolOf, TheGradientReachesWhatTheInputWasMadeOf) {
  const UseKernels use(kernels_of(GetParam()));
  const auto x = plain(at::randn({2, 16, 4, 4}));
  const auto g = plain(at::randn({2, 16, 2, 2}));
  const auto doubled = [](auto pool) {
    return [pool](const at::Tensor& t) { return pool(t.mul(2)); };
  };
  EXPECT_TRUE(same(run(doubled(relu_max_pool), x, g).gx, run(doubled(by_libtorch), x, g).gx));
}

TEST_P(ReluMaxPoolOf, TheBackwardRunsWithoutTheScopeOfTheForward) {
  const auto x = plain(at::randn({2, 16, 4, 4}));
  const auto leaf = x.detach().set_requires_grad(true);
  at::Tensor y;
  {
    const UseKernels use(kernels_of(GetParam()));
    y = relu_max_pool(leaf);
  }
  const auto g = plain(at::randn({2, 16, 2, 2}));
  y.backward(g);
  EXPECT_TRUE(same(leaf.grad(), run(by_libtorch, x, g).gx));
}

INSTANTIATE_TEST_SUITE_P(Instances, ReluMaxPoolOf, ::testing::ValuesIn(instruction_sets()),
                         [](const auto& instance) { return instance.param; });

TEST(ReluMaxPool, IsLibtorchsOwnWhereTheLoopsDoNotServe) {
  at::manual_seed(1);
  const auto x = plain(at::randn({2, 16, 6, 6}));
  const auto g = plain(at::randn({2, 16, 3, 3}));
  for (const auto& name : instruction_sets()) {
    const UseKernels use(kernels_of(name));
    const auto check = [&](const at::Tensor& images, const at::Tensor& gradient) {
      const auto own = run(relu_max_pool, images, gradient);
      const auto right = run(by_libtorch, images, gradient);
      EXPECT_EQ(own.y.scalar_type(), images.scalar_type());
      EXPECT_EQ(own.y.strides(), right.y.strides());
      EXPECT_TRUE(same(own.y, right.y)) << name;
      EXPECT_TRUE(same(own.gx, right.gx)) << name;
    };
    check(x.to(at::kDouble), g.to(at::kDouble));
    check(x.contiguous(at::MemoryFormat::Contiguous), g);
    check(x.narrow(1, 0, 8), g.narrow(1, 0, 8));  // strides of a larger tensor
    check(x[0], g[0]);                            // one image, three dimensions
    EXPECT_ANY_THROW(relu_max_pool(x.narrow(2, 0, 1)));
  }
}

}  // namespace
}  // namespace fedvg::kernels
