#include "engine/step_in_backward.h"

#include <ATen/ops/randn.h>
#include <ATen/ops/zeros.h>
#include <gtest/gtest.h>

#include "fedvg/registry.h"

namespace fedvg {
namespace {

std::unique_ptr<LocalOptimizer> sgd(double weight_decay) {
  Table options;
  options.set("weight_decay", weight_decay);
  return Registry<LocalOptimizer>::instance().make("sgd", options);
}

// loss = sum (a b)^2 with b used twice: d/da = 2 a b^2, d/db = 2 a^2 b + 3 b^2.
TEST(StepInBackward, StepsEachParameterByItsWholeGradient) {
  const at::Tensor a = at::zeros({1}, at::kDouble).fill_(3).set_requires_grad(true);
  const at::Tensor b = at::zeros({1}, at::kDouble).fill_(2).set_requires_grad(true);
  const std::vector<NamedTensor> parameters{{"a", "a", a}, {"b", "b", b}};
  a.mutable_grad() = at::zeros({1}, at::kDouble);
  const auto optimizer = sgd(0.5);
  double rate = 0.1;
  {
    const StepInBackward stepping(parameters, {}, *optimizer, rate);
    a.mul(b).pow(2).add(b.pow(3)).sum().backward();
    EXPECT_FALSE(a.grad().defined());
    EXPECT_DOUBLE_EQ(a.item<double>(), 3 - 0.1 * (2 * 3 * 4 + 0.5 * 3));
    EXPECT_DOUBLE_EQ(b.item<double>(), 2 - 0.1 * (2 * 9 * 2 + 3 * 4 + 0.5 * 2));
    rate = 0;
    const double before = a.item<double>();
    a.mul(1).sum().backward();
    EXPECT_EQ(a.item<double>(), before);
  }
  // Afterwards gradients are gathered again where they were.
  ASSERT_TRUE(a.grad().defined());
  EXPECT_FALSE(b.grad().defined());
  const double before = a.item<double>();
  a.mul(7).sum().backward();
  EXPECT_EQ(a.item<double>(), before);
  EXPECT_EQ(a.grad().item<double>(), 7);
}

// A tensor that the loss does not depend on still decays, in each step anew.
TEST(StepInBackward, TreatsWhatTheLossLeavesOutAsWithoutAGradient) {
  const at::Tensor a = at::zeros({1}, at::kDouble).fill_(3).set_requires_grad(true);
  const at::Tensor unused = at::zeros({2}, at::kDouble).fill_(4).set_requires_grad(true);
  const std::vector<NamedTensor> parameters{{"a", "a", a}, {"unused", "unused", unused}};
  const auto optimizer = sgd(0.5);
  const double rate = 0.1;
  StepInBackward stepping(parameters, {}, *optimizer, rate);
  a.mul(2).sum().backward();
  stepping.finish();
  EXPECT_DOUBLE_EQ(a.item<double>(), 3 - 0.1 * (2 + 0.5 * 3));
  EXPECT_DOUBLE_EQ(unused[1].item<double>(), 4 * 0.95);
  a.mul(2).add(unused.sum()).sum().backward();
  stepping.finish();
  EXPECT_DOUBLE_EQ(unused[1].item<double>(), 3.8 - 0.1 * (1 + 0.5 * 3.8));
  a.mul(2).sum().backward();
  stepping.finish();
  EXPECT_DOUBLE_EQ(unused[0].item<double>(), (3.8 - 0.1 * (1 + 0.5 * 3.8)) * 0.95);
}

// What stands for dead taps decays as if it had a gradient of 0.
TEST(StepInBackward, StepsTailsOnceABatch) {
  const at::Tensor a = at::zeros({1}, at::kDouble).fill_(3).set_requires_grad(true);
  const at::Tensor tail = at::zeros({2}, at::kDouble).fill_(4);
  const std::vector<NamedTensor> parameters{{"a", "a", a}};
  const double rate = 0.1;
  for (const double decay : {0.5, 0.0}) {
    const auto optimizer = sgd(decay);
    StepInBackward stepping(parameters, {tail}, *optimizer, rate);
    for (int batch = 0; batch < 2; ++batch) {
      a.mul(2).sum().backward();
      stepping.finish();
    }
    EXPECT_DOUBLE_EQ(tail[1].item<double>(), 4 * 0.95 * 0.95);
  }
}

TEST(StepInBackward, TakesGradientsInAnyOrderOfMemory) {
  const at::Tensor w = at::randn({4, 3, 2, 2}, at::kDouble)
                           .contiguous(at::MemoryFormat::ChannelsLast)
                           .set_requires_grad(true);
  const at::Tensor start = w.detach().clone();
  const at::Tensor slope = at::randn({4, 3, 2, 2}, at::kDouble);
  const std::vector<NamedTensor> parameters{{"w", "w", w}};
  const auto optimizer = sgd(0);
  const double rate = 1;
  {
    const StepInBackward stepping(parameters, {}, *optimizer, rate);
    w.mul(slope).sum().backward();
  }
  EXPECT_TRUE(w.detach().equal(start.sub(slope)));
}

TEST(StepInBackward, IsForOptimizersWithoutMemory) {
  EXPECT_TRUE(sgd(0.1)->is_elementwise());
  Table options;
  options.set("momentum", 0.9);
  EXPECT_FALSE(Registry<LocalOptimizer>::instance().make("sgd", options)->is_elementwise());
  EXPECT_FALSE(Registry<LocalOptimizer>::instance().make("adam")->is_elementwise());
}

}  // namespace
}  // namespace fedvg
