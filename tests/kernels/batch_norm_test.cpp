#include "kernels/batch_norm.h"

#include <ATen/TensorOperators.h>
#include <ATen/core/grad_mode.h>
#include <ATen/ops/add.h>
#include <ATen/ops/batch_norm.h>
#include <ATen/ops/cat.h>
#include <ATen/ops/cross_entropy_loss.h>
#include <ATen/ops/equal.h>
#include <ATen/ops/full.h>
#include <ATen/ops/linear.h>
#include <ATen/ops/ones.h>
#include <ATen/ops/rand.h>
#include <ATen/ops/randint.h>
#include <ATen/ops/randn.h>
#include <ATen/ops/relu.h>
#include <ATen/ops/where.h>
#include <ATen/ops/zeros.h>
#include <ATen/ops/zeros_like.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <torch/csrc/autograd/function.h>

#include <algorithm>
#include <limits>
#include <utility>

#include "kernels/convolution.h"
#include "kernels/instruction_set.h"
#include "kernels/layout.h"

namespace fedvg::kernels {
namespace {

using ::testing::DoubleNear;
using ::testing::HasSubstr;

constexpr double kEps = 1e-5, kMomentum = 0.1;
constexpr double kInfinity = std::numeric_limits<double>::infinity();
constexpr double kNan = std::numeric_limits<double>::quiet_NaN();

at::Tensor random(const std::vector<std::int64_t>& shape) {
  return plain(at::randn(shape, at::kFloat));
}

double distance(const at::Tensor& a, const at::Tensor& b) {
  const double size = b.norm().item<double>();
  return a.to(at::kDouble).sub(b).norm().item<double>() / (size > 0 ? size : 1);
}

bool same(const at::Tensor& a, const at::Tensor& b) {
  return a.sizes() == b.sizes() &&
         a.eq(b).logical_or_(a.ne(a).logical_and(b.ne(b))).all().item<bool>();
}

at::Tensor learning(const at::Tensor& t) { return t.detach().set_requires_grad(true); }

/// Was y made by the loops of this project?
bool by_loops(const at::Tensor& y) {
  return y.grad_fn() && y.grad_fn()->name().find("BatchNormFunction") != std::string::npos;
}

struct Problem {
  at::Tensor x, weight, bias;
  std::optional<at::Tensor> residual;
  at::Tensor g;  ///< gradient of the output
  BatchNormSettings settings{kMomentum, kEps};

  static Problem of(const std::vector<std::int64_t>& shape, bool relu = true, bool residual = false,
                    std::int64_t group = 0) {
    Problem p{.x = plain(at::randn(shape) * 2 + at::randn({shape[1], 1, 1})),
              .weight = at::rand({shape[1]}) + 0.5,
              .bias = at::randn({shape[1]}),
              .g = random(shape)};
    if (residual) p.residual = random(shape);
    p.settings.relu = relu;
    p.settings.group = group;
    return p;
  }
};

struct Results {
  at::Tensor y, x, weight, bias, residual;  ///< the output, and the gradients
  at::Tensor running_mean, running_var;
  bool loops = false;
};

Results run(const Problem& p) {
  const std::int64_t channels = p.x.size(1);
  Results r{.x = learning(p.x),
            .weight = learning(p.weight),
            .bias = learning(p.bias),
            .running_mean = at::zeros({channels}),
            .running_var = at::ones({channels})};
  std::optional<at::Tensor> residual;
  if (p.residual) residual = r.residual = learning(*p.residual);
  r.y = batch_norm(r.x, r.weight, r.bias, &r.running_mean, &r.running_var, residual, p.settings);
  r.loops = by_loops(r.y);
  r.y.backward(p.g);
  r.y = r.y.detach();
  for (auto* t : {&r.x, &r.weight, &r.bias}) *t = t->grad();
  if (residual) r.residual = r.residual.grad();
  return r;
}

/// In double precision by libtorch's operators, with the mask that the ReLU of `own` made: an
/// output within rounding of 0 may fall on either side.
Results reference(const Problem& p, const Results& own) {
  const auto wide = [](const at::Tensor& t) { return t.to(at::kDouble); };
  const std::int64_t channels = p.x.size(1), images = p.x.size(0);
  const std::int64_t group = p.settings.group == 0 ? images : p.settings.group;
  Results r{.x = learning(wide(p.x)),
            .weight = learning(wide(p.weight)),
            .bias = learning(wide(p.bias)),
            .running_mean = at::zeros({channels}, at::kDouble),
            .running_var = at::ones({channels}, at::kDouble)};
  std::vector<at::Tensor> parts;
  for (const auto& part : r.x.split(group)) {
    parts.push_back(at::batch_norm(part, r.weight, r.bias, r.running_mean, r.running_var, true,
                                   p.settings.momentum, p.settings.eps, false));
  }
  r.y = at::cat(parts);
  if (p.residual) {
    r.residual = learning(wide(*p.residual));
    r.y = r.y + r.residual;
  }
  const auto g = wide(p.g);
  r.y.backward(p.settings.relu ? at::where(own.y <= 0, at::zeros_like(g), g) : g);
  r.y = p.settings.relu ? r.y.detach().relu() : r.y.detach();
  for (auto* t : {&r.x, &r.weight, &r.bias}) *t = t->grad();
  if (p.residual) r.residual = r.residual.grad();
  return r;
}

class BatchNormOf : public ::testing::TestWithParam<std::string> {
 protected:
  void SetUp() override { at::manual_seed(1); }

  bool has_loops() const { return kernels_of(GetParam()) != nullptr; }

  void compare(const Problem& p) {
    SCOPED_TRACE(::testing::Message()
                 << "x " << p.x.sizes() << " group " << p.settings.group << " relu "
                 << p.settings.relu << " residual " << p.residual.has_value());
    const Results own = run(p);
    EXPECT_EQ(own.loops, has_loops());
    const Results right = reference(p, own);
    const double near = has_loops() ? 1e-6 : 3e-6;
    EXPECT_LT(distance(own.y, right.y), near);
    EXPECT_LT(distance(own.x, right.x), near);
    EXPECT_LT(distance(own.weight, right.weight), near);
    EXPECT_LT(distance(own.bias, right.bias), near);
    EXPECT_LT(distance(own.running_mean, right.running_mean), near);
    EXPECT_LT(distance(own.running_var, right.running_var), near);
    if (p.residual) {
      EXPECT_LT(distance(own.residual, right.residual), 1e-12);
    }
  }

 private:
  UseKernels use_{kernels_of(GetParam())};
};

TEST_P(BatchNormOf, OutputsAndGradientsOfEveryShape) {
  for (const bool relu : {false, true}) {
    for (const bool residual : {false, true}) {
      for (const auto& shape : {std::vector<std::int64_t>{32, 64, 8, 8},
                                {10, 32, 7, 9},
                                {17, 48, 3, 3},
                                {2, 80, 5, 4},
                                {17, 112, 1, 2},
                                {32, 512, 1, 1},
                                {1, 64, 13, 13},
                                {256, 16, 2, 2}}) {
        compare(Problem::of(shape, relu, residual));
      }
    }
  }
}

TEST_P(BatchNormOf, OutputsAndGradientsInGroups) {
  for (const std::int64_t group : {1, 2, 7, 32, 100}) {
    compare(Problem::of({32, 64, 4, 4}, true, true, group));
    compare(Problem::of({17, 48, 3, 5}, false, false, group));
  }
}

// Of two values x's gradient nearly vanishes, all rounding, unless eps is large.
TEST_P(BatchNormOf, GroupsOfTwoValues) {
  for (const auto& [shape, group] : {std::pair{std::vector<std::int64_t>{2, 16, 1, 1}, 0},
                                     std::pair{std::vector<std::int64_t>{1, 32, 2, 1}, 0},
                                     std::pair{std::vector<std::int64_t>{6, 48, 1, 2}, 1},
                                     std::pair{std::vector<std::int64_t>{6, 48, 1, 1}, 2}}) {
    Problem p = Problem::of(shape, true, true, group);
    p.settings.eps = 1;
    compare(p);
  }
}

// Values 1 and 3 in each channel: mean 2, variance 1, unbiased 2.
TEST_P(BatchNormOf, ByHand) {
  const auto x = plain(at::cat({at::full({1, 16, 1, 1}, 1.), at::full({1, 16, 1, 1}, 3.)}));
  at::Tensor mean = at::ones({16}), var = at::full({16}, 10.);
  const auto y = batch_norm(x, at::full({16}, 5.), at::full({16}, 1.), &mean, &var, std::nullopt,
                            {.momentum = 0.25, .eps = 3});
  EXPECT_THAT(y[0][0].item<double>(), DoubleNear(1 - 2.5, 1e-6));
  EXPECT_THAT(y[1][15].item<double>(), DoubleNear(1 + 2.5, 1e-6));
  EXPECT_THAT(mean[3].item<double>(), DoubleNear(0.75 * 1 + 0.25 * 2, 1e-6));
  EXPECT_THAT(var[3].item<double>(), DoubleNear(0.75 * 10 + 0.25 * 2, 1e-6));
}

// A mean of 1000 deviations, and a first pixel far from all others.
TEST_P(BatchNormOf, VarianceSurvivesLargeMeansAndOutliers) {
  if (!has_loops()) GTEST_SKIP() << "a promise of the loops";
  for (const double first : {0., 1e3, 3e4}) {
    auto x = random({32, 64, 5, 5}).add_(1000);
    x[0].select(1, 0).select(1, 0).fill_(1000 + first);
    at::Tensor mean = at::zeros({64}), var = at::zeros({64});
    const auto y = batch_norm(x, at::ones({64}), at::zeros({64}), &mean, &var, std::nullopt,
                              {.momentum = 1, .eps = kEps});
    const auto rows = x.to(at::kDouble).permute({1, 0, 2, 3}).reshape({64, -1});
    EXPECT_LT(distance(mean, rows.mean(1)), 3e-7) << first;
    EXPECT_LT(distance(var, rows.var(1)), 1e-5) << first;
    EXPECT_LT(distance(y.to(at::kDouble).pow(2).mean({0, 2, 3}), at::ones({64})), 1e-4) << first;
  }
}

TEST_P(BatchNormOf, ConstantChannelsBecomeTheBias) {
  const auto x = plain(at::full({10, 32, 3, 3}, 0.1));
  const auto bias = at::randn({32});
  const auto y =
      batch_norm(x, at::ones({32}), bias, nullptr, nullptr, std::nullopt, {kMomentum, kEps});
  EXPECT_LT(distance(y, bias.reshape({1, 32, 1, 1}).expand_as(y)), 1e-4);
}

TEST_P(BatchNormOf, AGroupIsABatchOfItsOwn) {
  const Problem all = Problem::of({20, 48, 3, 3}, true, true, 8);
  const Results together = run(all);
  at::Tensor mean = at::zeros({48}), var = at::ones({48});
  at::Tensor gw = at::zeros({48}), gb = at::zeros({48});
  for (std::int64_t begin = 0; begin < 20; begin += 8) {
    const std::int64_t length = std::min<std::int64_t>(8, 20 - begin);
    const auto part = [&](const at::Tensor& t) { return t.narrow(0, begin, length); };
    const auto x = learning(part(all.x)), residual = learning(part(*all.residual));
    const auto weight = learning(all.weight), bias = learning(all.bias);
    BatchNormSettings settings = all.settings;
    settings.group = 0;
    const auto y = batch_norm(x, weight, bias, &mean, &var, residual, settings);
    y.backward(part(all.g));
    EXPECT_TRUE(at::equal(y.detach(), part(together.y)));
    EXPECT_TRUE(at::equal(x.grad(), part(together.x)));
    EXPECT_TRUE(at::equal(residual.grad(), part(together.residual)));
    gw += weight.grad();
    gb += bias.grad();
  }
  EXPECT_TRUE(at::equal(mean, together.running_mean));
  EXPECT_TRUE(at::equal(var, together.running_var));
  EXPECT_LT(distance(together.weight, gw), 1e-6);
  EXPECT_LT(distance(together.bias, gb), 1e-6);
}

TEST_P(BatchNormOf, ANanStaysInItsChannelAndGroup) {
  for (const double bad : {kNan, kInfinity, -kInfinity}) {
    Problem p = Problem::of({8, 64, 3, 3}, true, false, 4);
    const Results clean = run(p);
    p.x = p.x.clone();
    p.x[5][17][2][1] = bad;
    const Results own = run(p);
    const auto touched = [](const at::Tensor& t) { return t.narrow(0, 4, 4).select(1, 17); };
    EXPECT_TRUE(touched(own.y).isnan().all().item<bool>()) << bad;
    EXPECT_TRUE(touched(own.x).isnan().all().item<bool>()) << bad;
    EXPECT_TRUE(own.weight[17].isnan().item<bool>());
    EXPECT_EQ(own.bias[17].isnan().item<bool>(), false);  // the mask is open, g is finite
    touched(own.y).copy_(touched(clean.y));
    touched(own.x).copy_(touched(clean.x));
    EXPECT_TRUE(at::equal(own.y, clean.y)) << bad;
    EXPECT_TRUE(at::equal(own.x, clean.x)) << bad;
  }
}

// The mask comes from the sum with the residual, whose own values stay where they are.
TEST_P(BatchNormOf, ReluOfNanAndInfinities) {
  Problem p = Problem::of({2, 32, 4, 4}, true, true);
  auto residual = p.residual->clone();
  residual[0][0][0][0] = kNan;
  residual[0][3][1][0] = kInfinity;
  residual[1][31][3][3] = -kInfinity;
  p.residual = residual;
  const Results own = run(p);
  EXPECT_TRUE(own.y[0][0][0][0].isnan().item<bool>());
  EXPECT_EQ(own.y[0][3][1][0].item<double>(), kInfinity);
  EXPECT_EQ(own.y[1][31][3][3].item<double>(), 0);
  EXPECT_EQ(own.y.isnan().sum().item<std::int64_t>(), 1);
  EXPECT_TRUE(at::equal(own.residual, at::where(own.y <= 0, at::zeros_like(p.g), p.g)));
  EXPECT_EQ(own.residual[0][0][0][0].item<double>(), p.g[0][0][0][0].item<double>());
  EXPECT_TRUE(own.x.isfinite().all().item<bool>());
}

TEST_P(BatchNormOf, WithoutRunningStatistics) {
  const Problem p = Problem::of({10, 32, 3, 3}, true, true);
  const Results kept = run(p);
  const auto y = batch_norm(p.x, p.weight, p.bias, nullptr, nullptr, p.residual, p.settings);
  EXPECT_FALSE(y.requires_grad());
  EXPECT_TRUE(at::equal(y, kept.y));
  const at::NoGradGuard off;
  EXPECT_TRUE(at::equal(
      batch_norm(learning(p.x), p.weight, p.bias, nullptr, nullptr, p.residual, p.settings),
      kept.y));
}

TEST_P(BatchNormOf, OnlyTheGradientsAskedFor) {
  for (const bool relu : {false, true}) {
    const Problem p = Problem::of({10, 64, 3, 3}, relu, true, 5);
    const Results all = run(p);
    for (int asked = 1; asked < 16; ++asked) {
      const auto input = [&](const at::Tensor& t, int bit) {
        return t.detach().set_requires_grad((asked & bit) != 0);
      };
      const auto x = input(p.x, 1), weight = input(p.weight, 2), bias = input(p.bias, 4);
      const auto residual = input(*p.residual, 8);
      batch_norm(x, weight, bias, nullptr, nullptr, residual, p.settings).backward(p.g);
      const auto check = [&](const at::Tensor& t, const at::Tensor& right) {
        EXPECT_EQ(t.grad().defined(), t.requires_grad()) << asked;
        if (t.grad().defined()) {
          EXPECT_TRUE(at::equal(t.grad(), right)) << asked;
        }
      };
      check(x, all.x);
      check(weight, all.weight);
      check(bias, all.bias);
      check(residual, all.residual);
    }
  }
}

TEST_P(BatchNormOf, GradientsOfOtherStridesAndOfNonLeaves) {
  const double near = has_loops() ? 0 : 1e-6;  // libtorch's sums depend on the strides
  for (const bool relu : {false, true}) {
    Problem p = Problem::of({10, 64, 3, 5}, relu, true);
    p.g = at::randn({10, 64, 1, 1}).expand({10, 64, 3, 5});
    const Results dense = [&] {
      Problem same = p;
      same.g = plain(p.g);
      return run(same);
    }();
    const Results expanded = run(p);
    EXPECT_LE(distance(expanded.x, dense.x), near);
    EXPECT_LE(distance(expanded.residual, dense.residual), near);
    p.g = p.g.contiguous();
    EXPECT_LE(distance(run(p).x, dense.x), near);

    const auto x = learning(p.x), residual = learning(*p.residual);
    const auto y = batch_norm(x * 1, p.weight, p.bias, nullptr, nullptr, residual * 1, p.settings);
    y.backward(p.g);
    EXPECT_LE(distance(x.grad(), dense.x), near);
    EXPECT_LE(distance(residual.grad(), dense.residual), near);
  }
}

// The input as its own residual, as where a block is skipped: its gradients add up.
TEST_P(BatchNormOf, TheInputAsResidual) {
  const Problem p = Problem::of({10, 32, 3, 3}, true, true);
  Problem apart = p;
  apart.residual = p.x;
  const Results separate = run(apart);
  const auto x = learning(p.x);
  batch_norm(x, p.weight, p.bias, nullptr, nullptr, x, p.settings).backward(p.g);
  EXPECT_LT(distance(x.grad(), separate.x + separate.residual), 1e-7);
}

// Without ReLU the output is not kept, so that what follows may overwrite it.
TEST_P(BatchNormOf, TheOutputMayBeOverwrittenWithoutRelu) {
  Problem p = Problem::of({4, 32, 3, 3}, false);
  const auto right = run(p).x;
  const auto x = learning(p.x);
  const auto y = batch_norm(x, p.weight, p.bias, nullptr, nullptr, std::nullopt, p.settings);
  y.mul_(3).backward(p.g / 3);
  EXPECT_LT(distance(x.grad(), right), 1e-6);
}

at::Tensor aten(const Problem& p, const at::Tensor& x, at::Tensor& mean, at::Tensor& var) {
  std::vector<at::Tensor> parts;
  for (const auto& part : x.split(p.settings.group == 0 ? x.size(0) : p.settings.group)) {
    parts.push_back(at::batch_norm(part, p.weight, p.bias, mean, var, true, p.settings.momentum,
                                   p.settings.eps, true));
  }
  at::Tensor y = at::cat(parts);
  if (p.residual) y = at::add(y, *p.residual);
  return p.settings.relu ? at::relu(y) : y;
}

TEST_P(BatchNormOf, EverythingElseIsLibtorch) {
  std::vector<Problem> problems;
  const auto add = [&](Problem p) { problems.push_back(std::move(p)); };
  for (const std::int64_t group : {0, 4}) {
    Problem dense = Problem::of({10, 32, 3, 3}, true, true, group);
    dense.x = dense.x.contiguous();
    add(dense);
    dense = Problem::of({10, 32, 3, 3}, true, true, group);
    dense.residual = dense.residual->contiguous();
    add(dense);
    dense = Problem::of({10, 32, 3, 3}, true, true, group);
    dense.residual = dense.residual->narrow(2, 0, 1);  // broadcast
    add(dense);
    add(Problem::of({10, 24, 3, 3}, true, true, group));
    Problem strided = Problem::of({10, 32, 3, 3}, true, false, group);
    strided.weight = at::rand({64}).slice(0, 0, 64, 2);
    add(strided);
    Problem wide = Problem::of({10, 32, 3, 3}, true, true, group);
    for (auto* t : {&wide.x, &wide.weight, &wide.bias, &wide.g, &*wide.residual}) {
      *t = t->to(at::kDouble);
    }
    add(wide);
    Problem flat = Problem::of({10, 32, 1, 1}, false, false, group);
    flat.x = flat.x.reshape({10, 32});
    flat.g = flat.g.reshape({10, 32});
    add(flat);
  }
  add(Problem::of({9, 32, 1, 1}, true, true, 4));  // one value a channel in the last group
  for (const Problem& p : problems) {
    const auto dtype = p.weight.scalar_type();
    const std::int64_t channels = p.x.size(1);
    at::Tensor mean[2], var[2], y[2], gradient[2];
    for (int i = 0; i < 2; ++i) {
      mean[i] = at::zeros({channels}, dtype);
      var[i] = at::ones({channels}, dtype);
      const auto x = learning(p.x);
      y[i] = i == 0 ? batch_norm(x, p.weight, p.bias, &mean[i], &var[i], p.residual, p.settings)
                    : aten(p, x, mean[i], var[i]);
      EXPECT_FALSE(by_loops(y[i]));
      y[i].backward(p.g);
      gradient[i] = x.grad();
    }
    EXPECT_EQ(y[0].scalar_type(), dtype);
    EXPECT_TRUE(same(y[0], y[1])) << p.x.sizes();
    EXPECT_TRUE(same(gradient[0], gradient[1])) << p.x.sizes();
    EXPECT_TRUE(same(mean[0], mean[1])) << p.x.sizes();
    EXPECT_TRUE(same(var[0], var[1])) << p.x.sizes();
  }
}

TEST_P(BatchNormOf, RefusesWhatMeansNothing) {
  const Problem p = Problem::of({4, 32, 3, 3});
  at::Tensor mean = at::zeros({32});
  try {
    batch_norm(p.x, p.weight, p.bias, nullptr, nullptr, std::nullopt,
               {.momentum = kMomentum, .eps = kEps, .group = -1});
    FAIL();
  } catch (const c10::Error& error) {
    EXPECT_THAT(error.what_without_backtrace(), HasSubstr("a group of -1 images"));
  }
  EXPECT_THROW(batch_norm(p.x, p.weight, p.bias, &mean, nullptr, std::nullopt, {kMomentum, kEps}),
               c10::Error);
}

/// convolution, norm, ReLU, convolution, norm, residual, ReLU, mean, linear: a small resnet.
struct Network {
  std::vector<at::Tensor> parameters;

  Network() {
    const auto add = [&](const at::Tensor& t) { parameters.push_back(learning(t)); };
    add(random({32, 16, 3, 3}) * 0.1);
    add(at::rand({32}) + 0.5);
    add(at::randn({32}) * 0.1);
    add(random({32, 32, 3, 3}) * 0.1);
    add(at::rand({32}) + 0.5);
    add(at::randn({32}) * 0.1);
    add(at::randn({10, 32}));
  }

  /// The summed loss, with statistics of `group` images.
  at::Tensor loss(const at::Tensor& images, const at::Tensor& labels, std::int64_t group) const {
    const auto& p = parameters;
    const BatchNormSettings settings{kMomentum, kEps, group, true};
    const auto norm = [&](const at::Tensor& x, std::size_t i,
                          const std::optional<at::Tensor>& residual) {
      return batch_norm(x, p[i], p[i + 1], nullptr, nullptr, residual, settings);
    };
    const auto x = norm(convolution(images, p[0], std::nullopt, 1, 1), 1, std::nullopt);
    const auto y = norm(convolution(x, p[3], std::nullopt, 1, 1), 4, x);
    return at::cross_entropy_loss(at::linear(y.mean({2, 3}), p[6]), labels, {}, at::Reduction::Sum);
  }

  /// One vector of all gradients, which start anew.
  at::Tensor take_gradient() {
    std::vector<at::Tensor> parts;
    for (auto& parameter : parameters) {
      parts.push_back(parameter.grad().to(at::kDouble).reshape({-1}));
      parameter.mutable_grad() = at::Tensor();
    }
    return at::cat(parts);
  }
};

TEST_P(BatchNormOf, GhostScoringEqualsScoringInBatches) {
  if (!has_loops()) GTEST_SKIP() << "libtorch's convolutions sum in an order by batch size";
  constexpr std::int64_t kImages = 256, kGroup = 32;
  Network network;
  const auto images = random({kImages, 16, 4, 4});
  const auto labels = at::randint(10, {kImages}, at::kLong);
  network.loss(images, labels, kGroup).backward();
  const auto ghost = network.take_gradient();
  at::Tensor sum = at::zeros_like(ghost);
  for (std::int64_t begin = 0; begin < kImages; begin += kGroup) {
    network.loss(images.narrow(0, begin, kGroup), labels.narrow(0, begin, kGroup), 0).backward();
    sum += network.take_gradient();
  }
  EXPECT_GT(sum.norm().item<double>(), 1);
  EXPECT_LT(distance(ghost, sum), 1e-6);
  network.loss(images, labels, 0).backward();
  EXPECT_GT(distance(network.take_gradient(), sum), 1e-3);  // groups do make a difference
}

INSTANTIATE_TEST_SUITE_P(Kernels, BatchNormOf, ::testing::ValuesIn(instruction_sets()),
                         [](const auto& test) { return test.param; });

}  // namespace
}  // namespace fedvg::kernels
