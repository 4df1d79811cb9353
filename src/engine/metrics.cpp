#include "engine/metrics.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <numeric>
#include <utility>

namespace fedvg {
namespace {

double ratio(std::int64_t part, std::int64_t whole) {
  return static_cast<double>(part) / static_cast<double>(whole);
}

std::int64_t column_sum(const Confusion& confusion, std::size_t column) {
  std::int64_t sum = 0;
  for (const auto& row : confusion) sum += row[column];
  return sum;
}

/// A figure's mean over the models that have it.
std::optional<double> mean_of(const std::vector<const Evaluation*>& evaluations,
                              std::optional<double> Evaluation::*figure) {
  std::vector<std::optional<double>> figures;
  for (const Evaluation* evaluation : evaluations) figures.push_back(evaluation->*figure);
  return mean_of_present(figures);
}

}  // namespace

void Predictions::append(const Predictions& more) {
  classes = more.classes;
  labels.insert(labels.end(), more.labels.begin(), more.labels.end());
  predicted.insert(predicted.end(), more.predicted.begin(), more.predicted.end());
  probabilities.insert(probabilities.end(), more.probabilities.begin(), more.probabilities.end());
}

Confusion confusion_of(const Predictions& predictions) {
  const auto classes = static_cast<std::size_t>(predictions.classes);
  const auto& predicted = predictions.predicted;
  const bool all = std::find(predicted.begin(), predicted.end(), kNoClass) == predicted.end();
  Confusion confusion(classes, std::vector<std::int64_t>(all ? classes : classes + 1, 0));
  for (std::size_t i = 0; i < predictions.labels.size(); ++i) {
    const std::size_t column =
        predicted[i] == kNoClass ? classes : static_cast<std::size_t>(predicted[i]);
    ++confusion[static_cast<std::size_t>(predictions.labels[i])][column];
  }
  return confusion;
}

std::int64_t without_prediction(const Confusion& confusion) {
  const bool all = confusion.empty() || confusion.front().size() == confusion.size();
  return all ? 0 : column_sum(confusion, confusion.size());
}

std::vector<std::int64_t> class_samples(const Confusion& confusion) {
  std::vector<std::int64_t> samples;
  for (const auto& row : confusion) {
    samples.push_back(std::accumulate(row.begin(), row.end(), std::int64_t{0}));
  }
  return samples;
}

std::vector<std::optional<double>> recalls(const Confusion& confusion) {
  const auto samples = class_samples(confusion);
  std::vector<std::optional<double>> recalls(samples.size());
  for (std::size_t c = 0; c < samples.size(); ++c) {
    if (samples[c] > 0) recalls[c] = ratio(confusion[c][c], samples[c]);
  }
  return recalls;
}

std::optional<double> balanced_accuracy(const Confusion& confusion) {
  return mean_of_present(recalls(confusion));
}

std::optional<double> macro_f1(const Confusion& confusion) {
  const auto samples = class_samples(confusion);
  std::vector<std::optional<double>> scores(samples.size());
  for (std::size_t c = 0; c < samples.size(); ++c) {
    // 2 TP + FP + FN = what is predicted as the class + what is of it
    if (samples[c] > 0) {
      scores[c] = ratio(2 * confusion[c][c], column_sum(confusion, c) + samples[c]);
    }
  }
  return mean_of_present(scores);
}

std::optional<double> auroc(const Predictions& predictions, std::int64_t of_class) {
  std::vector<std::pair<float, bool>> ranked;  // probability of the class, of the class
  std::int64_t positives = 0;
  for (std::int64_t i = 0; i < predictions.size(); ++i) {
    const float probability = predictions.probability(i, of_class);
    if (std::isnan(probability)) return std::nullopt;
    const bool positive = predictions.labels[static_cast<std::size_t>(i)] == of_class;
    positives += positive;
    ranked.emplace_back(probability, positive);
  }
  const std::int64_t negatives = predictions.size() - positives;
  if (positives == 0 || negatives == 0) return std::nullopt;
  std::sort(ranked.begin(), ranked.end());
  std::int64_t doubled_wins = 0, negatives_below = 0;
  for (auto first = ranked.begin(); first != ranked.end();) {
    std::int64_t tied[2] = {0, 0};  // negatives, positives
    auto last = first;
    for (; last != ranked.end() && last->first == first->first; ++last) ++tied[last->second];
    doubled_wins += tied[1] * (2 * negatives_below + tied[0]);
    negatives_below += tied[0];
    first = last;
  }
  return static_cast<double>(doubled_wins) /
         (2 * static_cast<double>(positives) * static_cast<double>(negatives));
}

std::optional<double> mean_of_present(const std::vector<std::optional<double>>& by_class) {
  double sum = 0;
  std::int64_t present = 0;
  for (const auto& figure : by_class) {
    if (!figure) continue;
    sum += *figure;
    ++present;
  }
  return present == 0 ? std::nullopt : std::optional(sum / static_cast<double>(present));
}

Evaluation mean_of(const std::vector<const Evaluation*>& evaluations) {
  Evaluation mean;
  const auto count = static_cast<double>(evaluations.size());
  mean.confusion.resize(evaluations.front()->confusion.size());
  for (const Evaluation* one : evaluations) {
    mean.accuracy += one->accuracy / count;
    mean.loss += one->loss / count;
    for (std::size_t t = 0; t < mean.confusion.size(); ++t) {
      auto& sum = mean.confusion[t];
      sum.resize(std::max(sum.size(), one->confusion[t].size()));
      for (std::size_t p = 0; p < one->confusion[t].size(); ++p) sum[p] += one->confusion[t][p];
    }
  }
  mean.balanced_accuracy = mean_of(evaluations, &Evaluation::balanced_accuracy);
  mean.macro_f1 = mean_of(evaluations, &Evaluation::macro_f1);
  mean.macro_auroc = mean_of(evaluations, &Evaluation::macro_auroc);
  return mean;
}

}  // namespace fedvg
