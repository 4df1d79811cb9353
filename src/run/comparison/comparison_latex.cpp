#include <fmt/format.h>

#include <map>
#include <string_view>

#include "run/comparison/comparison_sheet.h"
#include "run/comparison/comparison_table.h"

namespace fedvg {
namespace {

// What LaTeX takes for a command, or shows as something else.
const std::map<std::string_view, std::string_view>& replacements() {
  static const std::map<std::string_view, std::string_view> table = {
      {"\\", "\\textbackslash{}"},
      {"{", "\\{"},
      {"}", "\\}"},
      {"&", "\\&"},
      {"%", "\\%"},
      {"$", "\\$"},
      {"#", "\\#"},
      {"_", "\\_"},
      {"~", "\\textasciitilde{}"},
      {"^", "\\textasciicircum{}"},
      {"<", "$<$"},
      {">", "$>$"},
      {"|", "$|$"},
      {"\n", " "},
      {"±", "$\\pm$"},
      {"–", "--"},
      {"×", "$\\times$"},
  };
  return table;
}

std::string escaped(std::string_view text) {
  std::string result;
  for (std::size_t i = 0; i < text.size();) {
    std::size_t length = 1;
    while (i + length < text.size() &&
           (static_cast<unsigned char>(text[i + length]) & 0xc0) == 0x80) {
      ++length;
    }
    const std::string_view character = text.substr(i, length);
    const auto found = replacements().find(character);
    result += found == replacements().end() ? character : found->second;
    i += length;
  }
  return result;
}

// "5.96e-08" as a product, a minus as one.
std::string number(const std::string& cell) {
  if (cell.empty() || cell.find_first_not_of("0123456789.e+-") != std::string::npos) {
    return escaped(cell);
  }
  const auto e = cell.find('e');
  if (e == std::string::npos) return cell.front() == '-' ? "$" + cell + "$" : cell;
  return fmt::format("${} \\times 10^{{{}}}$", cell.substr(0, e), std::stoi(cell.substr(e + 1)));
}

std::string cell_text(const SheetColumn& column, std::size_t row) {
  const std::string& cell = column.cells[row];
  const std::string text = column.kind == SheetColumn::Kind::test ? number(cell) : escaped(cell);
  const Rank rank = column.ranks.empty() ? Rank::other : column.ranks[row];
  if (rank == Rank::best) return "\\textbf{" + text + "}";
  return rank == Rank::second ? "\\underline{" + text + "}" : text;
}

// The line above the figures of a grid.
std::string grid_line(const Sheet& sheet) {
  std::size_t first = 0, figures = 0;
  for (std::size_t i = 0; i < sheet.columns.size(); ++i) {
    if (sheet.columns[i].kind != SheetColumn::Kind::figure) continue;
    if (figures++ == 0) first = i + 1;
  }
  return fmt::format(" & \\multicolumn{{{}}}{{c}}{{{}}} \\\\\n\\cmidrule(lr){{{}-{}}}\n", figures,
                     escaped(sheet.grid_title), first, first + figures - 1);
}

template <class TextOf>
std::string line_of(const Sheet& sheet, TextOf text_of) {
  std::string line;
  for (const SheetColumn& column : sheet.columns) {
    line += (line.empty() ? "" : " & ") + text_of(column);
  }
  return line + " \\\\\n";
}

}  // namespace

std::string comparison_latex(const Comparison& comparison) {
  const Sheet sheet = sheet_of(comparison);
  std::string text = "% needs \\usepackage{booktabs}\n";
  for (std::string line : comparison_caption(comparison)) {
    for (char& c : line) {
      if (c == '\n') c = ' ';
    }
    text += "% " + line + "\n";
  }
  text += "\\begin{tabular}{";
  for (const SheetColumn& column : sheet.columns) {
    text += column.kind == SheetColumn::Kind::text ? "l" : "r";
  }
  text += "}\n\\toprule\n";
  if (!sheet.grid_title.empty()) text += grid_line(sheet);
  text += line_of(sheet, [](const SheetColumn& column) { return escaped(column.title); });
  text += "\\midrule\n";
  for (std::size_t row = 0; row < sheet.rows(); ++row) {
    text += line_of(sheet, [row](const SheetColumn& column) { return cell_text(column, row); });
  }
  return text + "\\bottomrule\n\\end{tabular}\n";
}

}  // namespace fedvg
