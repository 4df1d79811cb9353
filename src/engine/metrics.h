#pragma once

#include <cstdint>
#include <optional>
#include <vector>

// The arithmetic of evaluation, without a tensor type. A class that the data lacks has no
// recall, no F1 and no AUROC, and counts in no mean over classes.

namespace fedvg {

/// Predicted class of a sample whose probabilities are not numbers: none, which is wrong.
constexpr std::int64_t kNoClass = -1;

/// What a model says about each sample of a set, in the order of the samples.
struct Predictions {
  std::int64_t classes = 0;
  std::vector<std::int64_t> labels, predicted;  ///< [n], each in [0, classes); or kNoClass
  std::vector<float> probabilities;             ///< [n, classes], softmax of the outputs

  std::int64_t size() const { return static_cast<std::int64_t>(labels.size()); }
  float probability(std::int64_t sample, std::int64_t of_class) const {
    return probabilities[static_cast<std::size_t>(sample * classes + of_class)];
  }
  void append(const Predictions& more);
};

/// Samples by true class (row) and predicted class (column), [C][C]; [C][C + 1] when some
/// have no predicted class, which the last column counts.
using Confusion = std::vector<std::vector<std::int64_t>>;

Confusion confusion_of(const Predictions& predictions);

/// Samples without a predicted class.
std::int64_t without_prediction(const Confusion& confusion);
/// Samples of each class in the data.
std::vector<std::int64_t> class_samples(const Confusion& confusion);
/// By class: the share of its samples that are predicted as such.
std::vector<std::optional<double>> recalls(const Confusion& confusion);

/// Mean recall; absent without a sample.
std::optional<double> balanced_accuracy(const Confusion& confusion);
/// Mean over classes of 2 TP / (2 TP + FP + FN); absent without a sample.
std::optional<double> macro_f1(const Confusion& confusion);

/// Area under the ROC curve of one class against the rest: the share of pairs of a sample
/// of the class and one of the rest in which the first has the larger probability, ties
/// counted half (exact, by midranks). Absent when the data lacks either, or when a
/// probability is not a number.
std::optional<double> auroc(const Predictions& predictions, std::int64_t of_class);
/// Mean over the classes that have one.
std::optional<double> mean_of_present(const std::vector<std::optional<double>>& by_class);

/// How good one model is on one set.
struct Evaluation {
  double accuracy = 0;  ///< fraction
  double loss = 0;      ///< cross-entropy, mean over samples, without class weights
  std::optional<double> balanced_accuracy = {}, macro_f1 = {}, macro_auroc = {};
  Confusion confusion = {};
};

/// Of several models on one set: the mean of each figure where it is defined, and the sum of
/// the confusions. Figures are added in the given order. `evaluations` is not empty.
Evaluation mean_of(const std::vector<const Evaluation*>& evaluations);

}  // namespace fedvg
