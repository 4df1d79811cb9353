#include "engine/metrics.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>

namespace fedvg {
namespace {

using ::testing::ElementsAre;
using ::testing::Optional;

// Eight samples of classes 0, 1, 2; class 3 is predicted once and never true.
Predictions example() {
  Predictions predictions{.classes = 4, .labels = {0, 0, 0, 0, 1, 1, 2, 2}, .predicted = {}};
  predictions.predicted = {0, 0, 1, 3, 1, 0, 2, 2};
  return predictions;
}

// Of class 1 against class 0: positives first.
Predictions scored(const std::vector<float>& positives, const std::vector<float>& negatives) {
  Predictions predictions{.classes = 2, .labels = {}, .predicted = {}};
  for (const auto* scores : {&positives, &negatives}) {
    for (const float score : *scores) {
      predictions.labels.push_back(scores == &positives);
      predictions.probabilities.push_back(1 - score);
      predictions.probabilities.push_back(score);
    }
  }
  return predictions;
}

TEST(Metrics, ConfusionHasTrueClassesAsRows) {
  const Confusion confusion = confusion_of(example());
  EXPECT_THAT(confusion, ElementsAre(ElementsAre(2, 1, 0, 1), ElementsAre(1, 1, 0, 0),
                                     ElementsAre(0, 0, 2, 0), ElementsAre(0, 0, 0, 0)));
  EXPECT_THAT(class_samples(confusion), ElementsAre(4, 2, 2, 0));
}

// Recalls 2/4, 1/2, 2/2; their mean is 2/3 (accuracy would be 5/8).
TEST(Metrics, BalancedAccuracyIsTheMeanRecallOfPresentClasses) {
  const Confusion confusion = confusion_of(example());
  EXPECT_THAT(recalls(confusion),
              ElementsAre(Optional(0.5), Optional(0.5), Optional(1.0), std::nullopt));
  EXPECT_THAT(balanced_accuracy(confusion), Optional(2.0 / 3));
}

// 2 TP / (predicted + true): class 0 4/(3+4), class 1 2/(2+2), class 2 4/(2+2); mean 29/42.
TEST(Metrics, MacroF1IsTheMeanOverTrueClasses) {
  EXPECT_DOUBLE_EQ(macro_f1(confusion_of(example())).value(), 29.0 / 42);
}

// Class 0 is never predicted: precision is undefined, and its F1 is 0, not left out. Class 1:
// 2/(2+1) = 2/3.
TEST(Metrics, AClassThatIsNeverPredictedHasF1Zero) {
  EXPECT_DOUBLE_EQ(macro_f1({{0, 1}, {0, 1}}).value(), 1.0 / 3);
}

TEST(Metrics, NoSampleNoFigure) {
  const Confusion confusion = confusion_of({.classes = 2, .labels = {}, .predicted = {}});
  EXPECT_EQ(balanced_accuracy(confusion), std::nullopt);
  EXPECT_EQ(macro_f1(confusion), std::nullopt);
}

// Nine pairs. 0.8 wins over 0.5 and 0.1: 2. Each 0.5 wins over 0.1 and ties with 0.5: 1.5.
// (2 + 1.5 + 1.5) / 9.
TEST(Auroc, CountsTiesHalf) {
  EXPECT_THAT(auroc(scored({0.8F, 0.5F, 0.5F}, {0.9F, 0.5F, 0.1F}), 1), Optional(5.0 / 9));
}

TEST(Auroc, GoesFromZeroToOne) {
  EXPECT_THAT(auroc(scored({0.9F, 0.8F}, {0.7F, 0.1F}), 1), Optional(1.0));
  EXPECT_THAT(auroc(scored({0.1F, 0.2F}, {0.7F, 0.3F}), 1), Optional(0.0));
  EXPECT_THAT(auroc(scored({0.5F, 0.5F}, {0.5F, 0.5F, 0.5F}), 1), Optional(0.5));
}

TEST(Auroc, DoesNotDependOnTheOrderOfTheSamples) {
  Predictions backwards = scored({0.8F, 0.5F, 0.5F}, {0.9F, 0.5F, 0.1F});
  std::reverse(backwards.labels.begin(), backwards.labels.end());
  std::vector<float> turned;
  for (std::int64_t i = backwards.size(); i-- > 0;) {
    for (std::int64_t c = 0; c < 2; ++c) turned.push_back(backwards.probability(i, c));
  }
  backwards.probabilities = turned;
  EXPECT_THAT(auroc(backwards, 1), Optional(5.0 / 9));
}

TEST(Auroc, NeedsBothSidesAndNumbers) {
  EXPECT_EQ(auroc(scored({0.5F}, {}), 1), std::nullopt);
  EXPECT_EQ(auroc(scored({}, {0.5F}), 1), std::nullopt);
  EXPECT_EQ(auroc(scored({0.5F}, {std::nanf("")}), 1), std::nullopt);
}

TEST(Metrics, AbsentFiguresCountInNoMean) {
  EXPECT_THAT(mean_of_present({0.25, std::nullopt, 0.75}), Optional(0.5));
  EXPECT_EQ(mean_of_present({std::nullopt}), std::nullopt);
}

TEST(Metrics, TheMeanOfModelsAddsTheirConfusions) {
  Evaluation one{.accuracy = 0.5, .loss = 1}, other{.accuracy = 1, .loss = 3};
  one.macro_f1 = 0.25;
  one.balanced_accuracy = 0.5;
  other.balanced_accuracy = 1;
  one.confusion = {{1, 0}, {1, 0}};
  other.confusion = {{1, 0}, {0, 1}};
  const Evaluation mean = mean_of({&one, &other});
  EXPECT_EQ(mean.accuracy, 0.75);
  EXPECT_EQ(mean.loss, 2);
  EXPECT_THAT(mean.balanced_accuracy, Optional(0.75));
  EXPECT_THAT(mean.macro_f1, Optional(0.25));
  EXPECT_EQ(mean.macro_auroc, std::nullopt);
  EXPECT_THAT(mean.confusion, ElementsAre(ElementsAre(2, 0), ElementsAre(1, 1)));
}

// Four samples of class 0, two of class 1; one of each has probabilities that are no numbers.
TEST(Metrics, ASampleWithoutPredictionIsWrong) {
  const Predictions predictions{
      .classes = 2, .labels = {0, 0, 0, 0, 1, 1}, .predicted = {0, 0, 1, kNoClass, 1, kNoClass}};
  const Confusion confusion = confusion_of(predictions);
  EXPECT_THAT(confusion, ElementsAre(ElementsAre(2, 1, 1), ElementsAre(0, 1, 1)));
  EXPECT_EQ(without_prediction(confusion), 2);
  EXPECT_EQ(without_prediction(confusion_of(example())), 0);
  EXPECT_THAT(class_samples(confusion), ElementsAre(4, 2));
  EXPECT_THAT(recalls(confusion), ElementsAre(Optional(0.5), Optional(0.5)));
  // 2 TP / (predicted + true): 4 / (2 + 4), 2 / (2 + 2)
  EXPECT_DOUBLE_EQ(macro_f1(confusion).value(), (2.0 / 3 + 0.5) / 2);
}

TEST(Metrics, TheMeanOfModelsAddsWhatHasNoPrediction) {
  Evaluation one, other;
  one.confusion = {{2, 0}, {1, 1}};
  other.confusion = {{1, 0, 1}, {0, 0, 2}};
  for (const auto& pair : {std::vector{&one, &other}, std::vector{&other, &one}}) {
    const Confusion sum = mean_of({pair[0], pair[1]}).confusion;
    EXPECT_THAT(sum, ElementsAre(ElementsAre(3, 0, 1), ElementsAre(1, 1, 2)));
    EXPECT_EQ(without_prediction(sum), 3);
  }
}

TEST(Predictions, AreAppendedInOrder) {
  Predictions all;
  all.append({.classes = 2, .labels = {1}, .predicted = {0}, .probabilities = {0.75F, 0.25F}});
  all.append({.classes = 2, .labels = {0}, .predicted = {1}, .probabilities = {0.5F, 0.5F}});
  EXPECT_THAT(all.labels, ElementsAre(1, 0));
  EXPECT_THAT(all.predicted, ElementsAre(0, 1));
  EXPECT_EQ(all.probability(0, 1), 0.25F);
  EXPECT_EQ(all.probability(1, 0), 0.5F);
}

}  // namespace
}  // namespace fedvg
