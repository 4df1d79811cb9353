#include "run/comparison/comparison_table.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

#include "run/comparison/comparison_sheet.h"

namespace fedvg {
namespace {

std::string marked(const std::string& text, const SheetColumn& column, std::size_t row,
                   const Marks& marks) {
  const Rank rank = column.ranks.empty() ? Rank::other : column.ranks[row];
  if (rank == Rank::best) return marks.best(text);
  return rank == Rank::second ? marks.second(text) : text;
}

// Characters on the screen: UTF-8 bytes that begin one.
std::size_t width_of(const std::string& text) {
  return static_cast<std::size_t>(std::count_if(text.begin(), text.end(), [](char c) {
    return (static_cast<unsigned char>(c) & 0xc0) != 0x80;
  }));
}

std::size_t width_of(const SheetColumn& column) {
  std::size_t width = width_of(column.title);
  for (const std::string& cell : column.cells) width = std::max(width, width_of(cell));
  return width;
}

std::string line_end_trimmed(std::string line) {
  line.erase(line.find_last_not_of(' ') + 1);
  return line + "\n";
}

// Cells can hold settings that somebody wrote.
std::string markdown_escaped(std::string cell) {
  for (std::size_t at = 0; (at = cell.find('|', at)) != std::string::npos; at += 2) {
    cell.insert(at, "\\");
  }
  return cell;
}

bool needs_caption(const Comparison& comparison) {
  return comparison.is_grid() || comparison.baseline.has_value();
}

std::string markdown_title(const Comparison& comparison, const SheetColumn& column,
                           const ComparedColumn* compared) {
  if (!comparison.is_grid() || !compared) return column.title;
  std::vector<std::string> parts;
  for (std::size_t i = 0; i < compared->values.size(); ++i) {
    parts.push_back(comparison.options.columns[i] + " = " + compared->values[i]);
  }
  return fmt::format("{}", fmt::join(parts, ", "));
}

}  // namespace

std::string comparison_text(const Comparison& comparison, const Marks& marks) {
  const Sheet sheet = sheet_of(comparison);
  std::vector<std::string> lines(sheet.rows() + 1);
  for (const SheetColumn& column : sheet.columns) {
    const std::size_t width = width_of(column);
    for (std::size_t i = 0; i < lines.size(); ++i) {
      const std::string& cell = i == 0 ? column.title : column.cells[i - 1];
      if (&column != &sheet.columns.front()) lines[i] += "  ";
      lines[i] += (i == 0 ? cell : marked(cell, column, i - 1, marks)) +
                  std::string(width - width_of(cell), ' ');
    }
  }
  std::string text;
  if (!sheet.grid_title.empty()) {
    text = std::string(width_of(sheet.columns.front()) + 2, ' ') + sheet.grid_title + "\n";
  }
  for (const std::string& line : lines) text += line_end_trimmed(line);
  if (needs_caption(comparison)) {
    text += "\n";
    for (const std::string& line : comparison_caption(comparison)) text += line + "\n";
  }
  return text;
}

std::string comparison_markdown(const Comparison& comparison) {
  const Marks marks{[](const std::string& text) { return "**" + text + "**"; },
                    [](const std::string& text) { return "<u>" + text + "</u>"; }};
  const Sheet sheet = sheet_of(comparison);
  std::string text = "|", rule = "|";
  auto compared = comparison.columns.begin();
  for (const SheetColumn& column : sheet.columns) {
    const bool figure = column.kind == SheetColumn::Kind::figure;
    text += " " +
            markdown_escaped(markdown_title(comparison, column, figure ? &*compared++ : nullptr)) +
            " |";
    rule += column.kind == SheetColumn::Kind::text ? " --- |" : " ---: |";
  }
  text += "\n" + rule + "\n";
  for (std::size_t row = 0; row < sheet.rows(); ++row) {
    text += "|";
    for (const SheetColumn& column : sheet.columns) {
      text += " " + marked(markdown_escaped(column.cells[row]), column, row, marks) + " |";
    }
    text += "\n";
  }
  if (needs_caption(comparison)) {
    for (const std::string& line : comparison_caption(comparison)) text += "\n" + line + "\n";
  }
  return text;
}

}  // namespace fedvg
