#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "assess.h"

namespace fedvg {
namespace {

using namespace testing;

/// a.weight = [[3, 0], [0, -4]], a.bias = [1, 1], b.weight = [-5]: l1 norms 7, 2, 5; l2
/// norms 5, sqrt 2, 5; largest 4, 1, 5; largest singular value of the matrix 4.
struct Example {
  Layout layout = example_layout();
  FakeEvaluator evaluator{layout};
  Example() {
    evaluator.set(0, {3, 0, 0, -4});
    evaluator.set(1, {1, 1});
    evaluator.set(2, {-5});
  }
  Assessment with(std::initializer_list<std::pair<const char*, Value>> options) {
    return assess(*rule("fedvg", table(options)), evaluator);
  }
};

void expect_columns(const Column& got, const Column& wanted) {
  ASSERT_EQ(got.size(), wanted.size());
  for (std::size_t i = 0; i < got.size(); ++i) EXPECT_NEAR(got[i], wanted[i], 1e-14) << i;
}

TEST(FedVg, InvertsTheMeanLayerNorm) {
  Example example;
  const auto assessment = example.with({{"eps", 1.0}});
  expect_columns(assessment.tensor_norms, {7, 2, 5});
  EXPECT_NEAR(*assessment.norm, 14.0 / 3, 1e-14);
  expect_columns(assessment.parts[0].tensors, {1 / (14.0 / 3 + 1)});
  expect_columns(assessment.parts[0].buffers, {1 / (14.0 / 3 + 1)});
  EXPECT_TRUE(assessment.refused.empty());
}

TEST(FedVg, DefaultEpsIsOneHundredMillionth) {
  Example example;
  EXPECT_DOUBLE_EQ(example.with({}).parts[0].tensors[0], 1 / (14.0 / 3 + 1e-8));
}

TEST(FedVg, KnowsEveryNorm) {
  Example example;
  expect_columns(example.with({{"norm", "l2"}}).tensor_norms, {5, std::sqrt(2.0), 5});
  expect_columns(example.with({{"norm", "linf"}}).tensor_norms, {4, 1, 5});
  expect_columns(example.with({{"norm", "spectral"}}).tensor_norms, {4, std::sqrt(2.0), 5});
}

TEST(FedVg, NormOfTheUpdateNeedsNoValidation) {
  Example example;
  const auto by_update = rule("fedvg", table({{"norm", "delta"}}));
  EXPECT_FALSE(by_update->needs_validation());
  EXPECT_TRUE(rule("fedvg")->needs_validation());
  at::Tensor delta = at::zeros({example.layout.size()}, at::kDouble);
  example.layout.segment(delta, 1).fill_(-0.5);
  expect_columns(assess(*by_update, example.evaluator, 1, delta).tensor_norms, {0, 1, 0});
}

TEST(FedVg, WeighsEachTensorByItself) {
  Example example;
  const auto assessment = example.with({{"granularity", "layer"}, {"eps", 1.0}});
  expect_columns(assessment.parts[0].tensors, {1.0 / 8, 1.0 / 3, 1.0 / 6});
  expect_columns(assessment.parts[0].buffers, {1});  // no column: uniform
}

// Block a: (7 + 2) / 2 = 4.5; block b: 5. Its buffer follows block a, the other is uniform.
TEST(FedVg, WeighsEachBlockByTheMeanOfItsTensors) {
  Example example;
  const auto assessment = example.with({{"granularity", "block"}, {"eps", 1.0}});
  expect_columns(assessment.parts[0].tensors, {1 / 5.5, 1 / 5.5, 1.0 / 6});
  expect_columns(assessment.parts[0].buffers, {1 / 5.5, 1});
}

TEST(FedVg, SumsInsteadOfMeansWhenToldTo) {
  Example example;
  const auto model = example.with({{"reduce", "sum"}, {"eps", 1.0}});
  expect_columns(model.parts[0].tensors, {1.0 / 15});
  const auto block = example.with({{"granularity", "block"}, {"reduce", "sum"}, {"eps", 1.0}});
  expect_columns(block.parts[0].tensors, {1.0 / 10, 1.0 / 10, 1.0 / 6});
}

TEST(FedVg, RefusesADeadNetwork) {
  const Layout layout = example_layout();
  FakeEvaluator evaluator(layout);
  EXPECT_EQ(assess(*rule("fedvg"), evaluator).refused, "dead");
  evaluator.set(2, {1e-300});
  EXPECT_TRUE(assess(*rule("fedvg"), evaluator).refused.empty());
}

TEST(FedVg, RefusesAGradientThatIsNotFinite) {
  for (const char* norm : {"l1", "l2", "linf", "spectral"}) {
    for (const double bad :
         {std::numeric_limits<double>::quiet_NaN(), std::numeric_limits<double>::infinity()}) {
      Example example;
      example.evaluator.set(0, {3, bad, 0, -4});
      EXPECT_EQ(example.with({{"norm", norm}}).refused, "not-finite");
    }
  }
}

// The global model's mean norm is 14/3; a floor of 3 times it is 14, above any client's.
TEST(FedVg, FloorIsTakenFromTheGlobalModel) {
  Example example;
  const auto floored = rule("fedvg", table({{"score_floor", 3.0}, {"eps", 1.0}}));
  const at::Tensor w = at::zeros({example.layout.size()}, at::kDouble);
  floored->begin({1, 10, w, example.layout, {}}, example.evaluator);
  example.evaluator.set(0, {0, 0, 0, 0});
  expect_columns(assess(*floored, example.evaluator).parts[0].tensors, {1.0 / 15});
}

// Weights are shares of u: a loss on another scale, gradients times a constant, changes none
// (with an eps that is nothing beside them).
TEST(FedVg, WeightsDoNotDependOnTheScaleOfTheLoss) {
  for (const char* norm : {"l1", "l2", "linf", "spectral"}) {
    for (const char* granularity : {"model", "layer", "block"}) {
      const auto fedvg =
          rule("fedvg", table({{"norm", norm}, {"granularity", granularity}, {"eps", 1e-300}}));
      std::vector<Column> shares;
      for (const double scale : {1.0, 1e-3, 7e5}) {
        Column u, other, share;
        for (const double client : {1.0, 2.5}) {
          Example example;
          example.evaluator.set(0, {3 * scale * client, 0, 0, -4 * scale});
          example.evaluator.set(1, {scale, scale * client});
          example.evaluator.set(2, {-5 * scale / client});
          (client == 1 ? u : other) = assess(*fedvg, example.evaluator).parts[0].tensors;
        }
        for (std::size_t l = 0; l < u.size(); ++l) share.push_back(u[l] / (u[l] + other[l]));
        shares.push_back(share);
      }
      expect_columns(shares[1], shares[0]);
      expect_columns(shares[2], shares[0]);
    }
  }
}

/// Two groups of 10 of 100 images with these gradients of b.weight, and their mean.
void show_groups(FakeEvaluator& evaluator, double one, double other) {
  evaluator.images = 100;
  evaluator.groups.clear();
  for (const double value : {one, other}) {
    at::Tensor group = at::zeros({evaluator.layout().size()}, at::kDouble);
    evaluator.layout().segment(group, 2).fill_(value);
    evaluator.groups.emplace_back(10, group);
  }
  evaluator.set(2, {(one + other) / 2});
}

// The column is the mean over three tensors, of which two are 0: the groups' norms are 8/3 and
// 4/3, that of both 2. c = 10 * 64/9 + 10 * 16/9 - 20 * 36/9 = 80/9, a = 4 - 80/9 (1/20 - 1/100)
// = 164/45, and r = 64/9 - 4 - 80/9 (1/10 - 1/20) = 8/3 and -8/3.
TEST(FedVg, ScoresAPartOfDvalByTheNormWithoutItsNoise) {
  const Layout layout = example_layout();
  FakeEvaluator evaluator(layout);
  show_groups(evaluator, 8, 4);
  const auto assessment = assess(*rule("fedvg", table({{"eps", 1.0}})), evaluator);
  EXPECT_NEAR(*assessment.norm, 2, 1e-14);  // as measured
  const double norm = std::sqrt(164.0 / 45);
  expect_columns(assessment.parts[0].tensors, {1 / (norm + 1)});
  ASSERT_EQ(assessment.spreads.size(), 1U);
  const ScoreSpread& spread = assessment.spreads[0];
  expect_columns(spread.scores, assessment.parts[0].tensors);
  ASSERT_EQ(spread.groups.size(), 2U);
  const double deviation = 8.0 / 3 / (2 * 164.0 / 45) * norm / (norm + 1);
  EXPECT_EQ(spread.groups[0].images, 10);
  expect_columns(spread.groups[0].deviation, {-deviation});
  expect_columns(spread.groups[1].deviation, {deviation});
}

// A client below the floor has the floor's score, and its noise.
TEST(FedVg, AFloorBringsItsOwnSpread) {
  const Layout layout = example_layout();
  FakeEvaluator evaluator(layout);
  const auto floored = rule("fedvg", table({{"score_floor", 0.5}, {"eps", 1e-300}}));
  const at::Tensor w = at::zeros({layout.size()}, at::kDouble);
  show_groups(evaluator, 8, 4);
  const auto global = assess(*rule("fedvg", table({{"eps", 1e-300}})), evaluator);
  floored->begin({1, 10, w, layout, {}}, evaluator);
  show_groups(evaluator, 1, 1);
  const auto low = assess(*floored, evaluator);
  EXPECT_NEAR(low.parts[0].tensors[0], 2 * global.parts[0].tensors[0], 1e-12);
  expect_columns(low.spreads[0].groups[0].deviation, global.spreads[0].groups[0].deviation);
  show_groups(evaluator, 20, 20);
  expect_columns(assess(*floored, evaluator).spreads[0].groups[0].deviation, {0});
}

TEST(FedVg, WithoutGroupsThereIsNoSpread) {
  Example example;
  example.evaluator.images = 100;
  EXPECT_TRUE(example.with({}).spreads.empty());
  for (const char* norm : {"l1", "l2", "linf"}) {
    EXPECT_TRUE(rule("fedvg", table({{"norm", norm}}))->measures_spread());
  }
  for (const char* norm : {"delta", "spectral"}) {
    EXPECT_FALSE(rule("fedvg", table({{"norm", norm}}))->measures_spread());
  }
}

TEST(FedVg, RefusesOptionsOutOfBounds) {
  EXPECT_THROW(rule("fedvg", table({{"eps", 0.0}})), OptionError);
  EXPECT_THROW(rule("fedvg", table({{"norm", "l3"}})), OptionError);
  EXPECT_THROW(rule("fedvg", table({{"granularity", "tensor"}})), OptionError);
  EXPECT_THROW(rule("fedvg", table({{"score_floor", -0.1}})), OptionError);
  EXPECT_THROW(rule("fedvg", table({{"norm", "delta"}, {"score_floor", 0.1}})), OptionError);
}

}  // namespace
}  // namespace fedvg
