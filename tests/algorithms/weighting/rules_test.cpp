#include <gtest/gtest.h>

#include "assess.h"

namespace fedvg {
namespace {

using namespace testing;

Array rules(std::initializer_list<const char*> names) {
  Array array;
  for (const char* name : names) array.push_back(table({{"name", name}}));
  return array;
}

struct Example {
  Layout layout = example_layout();
  FakeEvaluator evaluator{layout};
};

TEST(Size, CountsSamples) {
  Example example;
  EXPECT_EQ(assess(*rule("size"), example.evaluator, 37).parts[0].tensors, Column{37});
  EXPECT_FALSE(rule("size")->needs_validation());
}

TEST(Uniform, CountsEverybodyOnce) {
  Example example;
  EXPECT_EQ(assess(*rule("uniform"), example.evaluator, 37).parts[0].tensors, Column{1});
}

TEST(Accuracy, WeighsByAccuracyUnlessAllAreWrong) {
  Example example;
  const auto accuracy = rule("accuracy");
  EXPECT_TRUE(accuracy->needs_validation());
  std::vector<std::vector<Score>> scores;
  for (const double answer : {0.0, 0.75}) {
    example.evaluator.answer = answer;
    scores.push_back(assess(*accuracy, example.evaluator).parts);
  }
  EXPECT_EQ(scores[1][0].tensors, Column{0.75});
  EXPECT_EQ(accuracy->shares(scores), (std::vector{1.0, 0.0}));
  scores.pop_back();
  EXPECT_EQ(accuracy->shares(scores), (std::vector{0.0, 1.0}));  // uniform
}

TEST(Mix, GivesEqualSharesUnlessTold) {
  Example example;
  const auto mix = rule("mix", table({{"of", rules({"size", "uniform"})}}));
  const auto assessment = assess(*mix, example.evaluator, 9);
  ASSERT_EQ(assessment.parts.size(), 2U);
  EXPECT_EQ(assessment.parts[0].tensors, Column{9});
  EXPECT_EQ(assessment.parts[1].tensors, Column{1});
  EXPECT_EQ(mix->shares({}), (std::vector{0.5, 0.5}));
  const auto told =
      rule("mix", table({{"of", rules({"size", "uniform"})}, {"shares", Array{1, 3}}}));
  EXPECT_EQ(told->shares({}), (std::vector{0.25, 0.75}));
}

// Accuracy brings two parts; with every accuracy 0 its half goes to the second.
TEST(Mix, HandsEachRuleItsOwnScores) {
  Example example;
  const auto mix = rule("mix", table({{"of", rules({"uniform", "accuracy"})}}));
  EXPECT_EQ(mix->parts(), 3U);
  EXPECT_TRUE(mix->needs_validation());
  const std::vector<std::vector<Score>> scores{assess(*mix, example.evaluator).parts};
  EXPECT_EQ(mix->shares(scores), (std::vector{0.5, 0.0, 0.5}));
}

TEST(Mix, RefusesAClientThatOneRuleRefuses) {
  Example example;  // its gradient is zero: dead
  const auto mix = rule("mix", table({{"of", rules({"size", "fedvg"})}}));
  EXPECT_EQ(assess(*mix, example.evaluator).refused, "dead");
}

TEST(Mix, MeasuresASpreadWhenEveryRuleThatScoresDoes) {
  const auto measures = [](std::initializer_list<const char*> names) {
    return rule("mix", table({{"of", rules(names)}}))->measures_spread();
  };
  EXPECT_TRUE(measures({"size", "fedvg"}));
  EXPECT_FALSE(measures({"size", "uniform"}));
  EXPECT_FALSE(measures({"accuracy", "fedvg"}));
  Example example;
  example.evaluator.set(0, {1});
  example.evaluator.images = 9;
  const at::Tensor whole = example.evaluator.gradient();
  example.evaluator.groups = {{1, whole}, {1, whole}};
  const auto mix = rule("mix", table({{"of", rules({"fedvg", "size", "fedvg"})}}));
  EXPECT_EQ(assess(*mix, example.evaluator).spreads.size(), 2U);
}

TEST(Mix, RefusesSharesThatDoNotFit) {
  const auto of = rules({"size", "uniform"});
  EXPECT_THROW(rule("mix"), OptionError);
  EXPECT_THROW(rule("mix", table({{"of", of}, {"shares", Array{1}}})), OptionError);
  EXPECT_THROW(rule("mix", table({{"of", of}, {"shares", Array{0, 0}}})), OptionError);
  EXPECT_THROW(rule("mix", table({{"of", of}, {"shares", Array{-1, 2}}})), OptionError);
  EXPECT_THROW(rule("mix", table({{"of", rules({"siez"})}})), OptionError);
}

}  // namespace
}  // namespace fedvg
