#include <gtest/gtest.h>

#include <ATen/ops/ones.h>
#include <ATen/ops/tensor.h>

#include <cmath>

#include "algorithms/corrections/testing.h"

namespace fedvg {
namespace {

using namespace testing;

at::Tensor rows(std::initializer_list<double> values) {
  return at::tensor(std::vector<double>(values), at::kDouble).reshape({-1, 2});
}

/// The loss on top of a task loss of 1, for features z against those of the global and of
/// the previous model.
struct Contrast {
  double loss;
  std::vector<double> gradient;  ///< with respect to z

  Contrast(const at::Tensor& features, const at::Tensor& global, const at::Tensor& previous,
           std::initializer_list<std::pair<const char*, Value>> options = {}) {
    LocalRound local;
    local.tools.features = [&](std::size_t slot) { return slot == 0 ? global : previous; };
    at::Tensor z = features.clone().set_requires_grad(true);
    const Output output{at::Tensor(), z};
    const Batch batch{features, at::Tensor()};
    const at::Tensor total =
        correction("moon", options)
            ->loss(local.context, batch, output, at::ones({}, at::kDouble).set_requires_grad(true));
    total.backward();
    loss = total.item<double>();
    const at::Tensor grad = z.grad().contiguous();
    gradient.assign(grad.data_ptr<double>(), grad.data_ptr<double>() + grad.numel());
  }
};

// Similarity 1 to the global and 0 to the previous features, T = 0.5: the contrast is
// -log(e^2 / (e^2 + 1)) = log(1 + e^-2).
TEST(Moon, AddsTheContrastOfGlobalAndPreviousFeatures) {
  const Contrast contrast(rows({1, 0}), rows({2, 0}), rows({0, 3}));
  EXPECT_NEAR(contrast.loss, 1 + 5 * std::log(1 + std::exp(-2.0)), 1e-14);
  // Turning z = (1, 0) towards (0, 1) changes the similarities by 0 and 1:
  // dl/dz_2 = mu / T * e^0 / (e^2 + e^0).
  EXPECT_NEAR(contrast.gradient[0], 0, 1e-14);
  EXPECT_NEAR(contrast.gradient[1], 5 / 0.5 / (std::exp(2.0) + 1), 1e-14);
}

// Two samples: similarities 1, 0 and 0, 0 with mu = 2, T = 1: the mean of log(1 + e^-1) and
// log 2.
TEST(Moon, TakesTheMeanOverTheBatch) {
  const Contrast contrast(rows({1, 0, 0, 1}), rows({1, 0, 1, 0}), rows({0, 1, -1, 0}),
                          {{"mu", 2.0}, {"temperature", 1.0}});
  EXPECT_NEAR(contrast.loss, 1 + std::log(1 + std::exp(-1.0)) + std::log(2.0), 1e-14);
}

// The first time both are the global model: log 2, without a pull anywhere.
TEST(Moon, HasNoPullBetweenEqualModels) {
  const Contrast contrast(rows({1, 2}), rows({2, 1}), rows({2, 1}));
  EXPECT_NEAR(contrast.loss, 1 + 5 * std::log(2.0), 1e-14);
  for (const double g : contrast.gradient) EXPECT_NEAR(g, 0, 1e-14);
}

// e^(1 / 1e-4) overflows; the loss is 2 / T - 0 from opposite features all the same.
TEST(Moon, SurvivesASharpContrast) {
  const Contrast contrast(rows({1, 0}), rows({-1, 0}), rows({1, 0}),
                          {{"mu", 1.0}, {"temperature", 1e-4}});
  EXPECT_NEAR(contrast.loss, 1 + 2e4, 1e-8);
}

TEST(Moon, WithoutWeightAddsNothing) {
  EXPECT_EQ(Contrast(rows({1, 0}), rows({2, 0}), rows({0, 3}), {{"mu", 0.0}}).loss, 1);
}

// The model that comes back from training is the previous one of the next participation.
TEST(Moon, RemembersTheClientsLastModel) {
  const auto moon = correction("moon");
  LocalRound first;
  first.buffers = {at::ones({2}, at::kDouble)};
  first.context.global = first.vector({{1}});
  first.context.parameters = first.vector({{4}});
  moon->begin(first.context);
  EXPECT_EQ(numbers(first.layout, first.tools.replicas.at(0))[0], 1);
  EXPECT_EQ(numbers(first.layout, first.tools.replicas.at(1))[0], 1);
  first.update.buffers = {at::ones({2}, at::kDouble).mul(9)};
  moon->end(first.context, first.update);
  first.context.parameters.zero_();  // the worker goes on to another client

  LocalRound second;
  second.buffers = {at::ones({2}, at::kDouble).mul(3)};
  second.context.global = second.vector({{2}});
  second.state = first.context.next_state;
  moon->begin(second.context);
  EXPECT_EQ(numbers(second.layout, second.tools.replicas.at(0))[0], 2);
  EXPECT_EQ(numbers(second.layout, second.tools.replicas.at(1))[0], 4);
  EXPECT_EQ(second.tools.replica_buffers.at(0)[0][0].item<double>(), 3);
  EXPECT_EQ(second.tools.replica_buffers.at(1)[0][0].item<double>(), 9);
}

TEST(Moon, RefusesOptionsOutOfBounds) {
  EXPECT_THROW(correction("moon", {{"mu", -1.0}}), OptionError);
  EXPECT_THROW(correction("moon", {{"temperature", 0.0}}), OptionError);
}

}  // namespace
}  // namespace fedvg
