#include "run/evaluation_report.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "run/csv.h"

namespace fedvg {
namespace {

std::string fixed(const std::optional<double>& figure) {
  if (!figure) return "-";
  return std::isnan(*figure) ? "nan" : fmt::format("{:.6f}", *figure);
}

}  // namespace

std::string evaluation_text(const Evaluation& evaluation, const std::vector<std::string>& classes) {
  std::string text;
  const auto add = [&](const char* name, const std::optional<double>& figure) {
    text += fmt::format("{:<17}  {}\n", name, fixed(figure));
  };
  add("accuracy", evaluation.accuracy);
  add("loss", evaluation.loss);
  add("balanced accuracy", evaluation.balanced_accuracy);
  add("macro F1", evaluation.macro_f1);
  add("macro AUROC", evaluation.macro_auroc);

  std::size_t width = 5;
  for (const auto& name : classes) width = std::max(width, name.size());
  text += fmt::format("\n{:<{}}  {:>8}  {:>8}\n", "class", width, "samples", "recall");
  const auto samples = class_samples(evaluation.confusion);
  const auto recall = recalls(evaluation.confusion);
  for (std::size_t c = 0; c < samples.size(); ++c) {
    text += fmt::format("{:<{}}  {:>8}  {:>8}\n", classes[c], width, samples[c], fixed(recall[c]));
  }
  return text;
}

std::string predictions_table(const std::vector<std::int64_t>& samples,
                              const Predictions& predictions,
                              const std::vector<std::string>& classes) {
  std::string text = "sample,label,predicted,probability\n";
  for (std::size_t i = 0; i < samples.size(); ++i) {
    const std::int64_t predicted = predictions.predicted[i];
    CsvLine line;
    line.add(samples[i]).add(classes[static_cast<std::size_t>(predictions.labels[i])]);
    if (predicted == kNoClass) {
      line.add("").add("");
    } else {
      line.add(classes[static_cast<std::size_t>(predicted)])
          .add(fmt::format("{}", predictions.probability(static_cast<std::int64_t>(i), predicted)));
    }
    text += line.text();
  }
  return text;
}

}  // namespace fedvg
