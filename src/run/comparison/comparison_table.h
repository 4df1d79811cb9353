#pragma once

#include <functional>
#include <string>
#include <vector>

#include "run/comparison/compare.h"

namespace fedvg {

/// How the best and the second of a column are marked.
struct Marks {
  std::function<std::string(const std::string&)> best, second;
};

/// Aligned columns: label, seeds, mean ± std, and with a baseline the test of each row. A cell
/// of one seed has no ±. A grid or a test is followed by its caption.
std::string comparison_text(const Comparison& comparison, const Marks& marks);
/// The same as a Markdown table, best bold, second underlined.
std::string comparison_markdown(const Comparison& comparison);
/// A tabular for LaTeX with booktabs, below its caption as a comment.
std::string comparison_latex(const Comparison& comparison);
/// Every figure unrounded: the two usual figures as a line for each group, anything else as a
/// line for each cell.
std::string comparison_csv(const Comparison& comparison);

/// What a reader of the table must know: metric and round, seeds, and of a test its kind,
/// pairing, adjustment, effect size and the smallest p that its pairs allow.
std::vector<std::string> comparison_caption(const Comparison& comparison);

}  // namespace fedvg
