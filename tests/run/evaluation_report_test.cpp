#include "run/evaluation_report.h"

#include <gtest/gtest.h>

#include <cmath>

namespace fedvg {
namespace {

TEST(EvaluationReport, TellsFiguresThenClasses) {
  const Evaluation evaluation{.accuracy = 0.75,
                              .loss = 1.5,
                              .balanced_accuracy = 2.0 / 3,
                              .macro_f1 = 0.5,
                              .macro_auroc = std::nullopt,
                              .confusion = {{3, 1}, {0, 0}}};
  EXPECT_EQ(evaluation_text(evaluation, {"tortoise", "hare"}),
            "accuracy           0.750000\n"
            "loss               1.500000\n"
            "balanced accuracy  0.666667\n"
            "macro F1           0.500000\n"
            "macro AUROC        -\n"
            "\n"
            "class      samples    recall\n"
            "tortoise         4  0.750000\n"
            "hare             0         -\n");
}

TEST(EvaluationReport, PredictionsNameClasses) {
  const Predictions predictions{.classes = 2,
                                .labels = {1, 0},
                                .predicted = {1, 1},
                                .probabilities = {0.25F, 0.75F, 0.4F, 0.6F}};
  EXPECT_EQ(predictions_table({7, 3}, predictions, {"a,b", "c"}),
            "sample,label,predicted,probability\n7,c,c,0.75\n3,\"a,b\",c,0.6\n");
}

TEST(EvaluationReport, LeavesEmptyWhatWasNotPredicted) {
  const float nan = std::nanf("");
  const Predictions predictions{.classes = 2,
                                .labels = {1, 0},
                                .predicted = {kNoClass, 0},
                                .probabilities = {nan, nan, 0.75F, 0.25F}};
  EXPECT_EQ(predictions_table({7, 3}, predictions, {"a", "c"}),
            "sample,label,predicted,probability\n7,c,,\n3,a,a,0.75\n");
  Evaluation evaluation{.accuracy = 0.5, .loss = -std::nan("")};
  evaluation.confusion = confusion_of(predictions);
  EXPECT_NE(evaluation_text(evaluation, {"a", "c"}).find("loss               nan\n"),
            std::string::npos);
}

}  // namespace
}  // namespace fedvg
