#include "config/nearest.h"

#include <algorithm>
#include <array>
#include <numeric>

#include "config/toml_text.h"

namespace fedvg::config {
namespace {

constexpr std::size_t kLongest = 64;  // no name is longer, and the cost is quadratic

std::string folded(std::string_view text) {
  std::string result(text);
  for (char& c : result) {
    if (c >= 'A' && c <= 'Z') c = static_cast<char>(c - 'A' + 'a');
    if (c == '_') c = '-';
  }
  return result;
}

// Insertions, deletions, replacements and swaps of neighbours (optimal string alignment).
std::size_t distance(const std::string& a, const std::string& b) {
  std::array<std::vector<std::size_t>, 3> rows;
  for (auto& row : rows) row.resize(b.size() + 1);
  auto &before = rows[0], &above = rows[1], &row = rows[2];
  std::iota(above.begin(), above.end(), std::size_t{0});
  for (std::size_t i = 1; i <= a.size(); ++i) {
    row[0] = i;
    for (std::size_t j = 1; j <= b.size(); ++j) {
      const std::size_t replaced = above[j - 1] + (a[i - 1] == b[j - 1] ? 0 : 1);
      row[j] = std::min({replaced, above[j] + 1, row[j - 1] + 1});
      if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1]) {
        row[j] = std::min(row[j], before[j - 2] + 1);
      }
    }
    std::swap(before, above);
    std::swap(above, row);
  }
  return above[b.size()];
}

}  // namespace

std::optional<std::string> nearest(std::string_view given,
                                   const std::vector<std::string>& candidates) {
  if (given.empty() || given.size() > kLongest) return std::nullopt;
  const std::string wanted = folded(given);
  std::optional<std::string> best;
  std::size_t best_distance = kLongest;
  for (const auto& candidate : candidates) {
    if (candidate.empty() || candidate.size() > kLongest) continue;
    const std::string name = folded(candidate);
    const std::size_t longer = std::max(name.size(), wanted.size());
    const std::size_t allowed = std::clamp<std::size_t>(longer / 3, 1, 3);
    std::size_t d = distance(wanted, name);
    if (std::min(name.size(), wanted.size()) >= 3 &&
        (name.starts_with(wanted) || wanted.starts_with(name))) {
      d = std::min(d, allowed);
    }
    if (d > allowed || d >= longer || d >= best_distance) continue;
    best = candidate;
    best_distance = d;
  }
  return best;
}

std::string candidates_text(std::string_view given, std::vector<std::string> candidates) {
  if (candidates.empty()) return "";
  std::sort(candidates.begin(), candidates.end());
  candidates.erase(std::unique(candidates.begin(), candidates.end()), candidates.end());
  std::string text = "; ";
  if (const auto match = nearest(given, candidates)) text += "did you mean '" + *match + "'? ";
  text += "known: ";
  for (std::size_t i = 0; i < candidates.size(); ++i) text += (i ? ", " : "") + candidates[i];
  return text;
}

std::string unknown_text(std::string_view what, std::string_view given, std::string_view place,
                         const std::vector<std::string>& candidates) {
  const std::string escaped = toml_string(shortened(given));
  std::string text =
      "unknown " + std::string(what) + " '" + escaped.substr(1, escaped.size() - 2) + "'";
  while (place.ends_with(' ')) place.remove_suffix(1);
  if (!place.empty()) text += " " + std::string(place);
  return text + candidates_text(given, candidates);
}

}  // namespace fedvg::config
