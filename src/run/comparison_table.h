#pragma once

#include <functional>
#include <string>

#include "run/compare.h"

namespace fedvg {

/// How the best and the second of a column are marked.
struct Marks {
  std::function<std::string(const std::string&)> best, second;
};

/// Aligned columns: label, seeds, mean ± std of the last round and of the last rounds.
/// A group of one seed has no ±.
std::string comparison_text(const Comparison& comparison, const Marks& marks);
/// The same as a Markdown table, best bold, second underlined.
std::string comparison_markdown(const Comparison& comparison);
/// Every figure unrounded, one column each.
std::string comparison_csv(const Comparison& comparison);

}  // namespace fedvg
