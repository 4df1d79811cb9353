#include "run/comparison_table.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <iterator>
#include <set>

#include "run/csv.h"

namespace fedvg {
namespace {

std::string rounded(double number) {
  return std::abs(number) < 1e5 ? fmt::format("{:.4f}", number) : fmt::format("{:.0f}", number);
}

std::string spread_text(const Spread& spread) {
  if (!spread.deviation) return rounded(spread.mean);
  return rounded(spread.mean) + " ± " + rounded(*spread.deviation);
}

enum class Rank { best, second, other };

using FigureOf = const Spread& (*)(const RunGroup&);

const Spread& final_of(const RunGroup& group) { return group.final_value; }
const Spread& last_of(const RunGroup& group) { return group.last_mean; }

// Equal means share a rank; one group alone is compared with nothing.
std::vector<Rank> ranks_of(const Comparison& comparison, FigureOf figure) {
  std::vector<Rank> ranks(comparison.groups.size(), Rank::other);
  const Better better = better_end(comparison.options.metric);
  if (better == Better::neither || ranks.size() < 2) return ranks;
  std::set<double> merits;
  const auto merit = [&](const RunGroup& group) {
    return better == Better::higher ? figure(group).mean : -figure(group).mean;
  };
  for (const RunGroup& group : comparison.groups) merits.insert(merit(group));
  const double best = *merits.rbegin();
  for (std::size_t i = 0; i < ranks.size(); ++i) {
    const double own = merit(comparison.groups[i]);
    if (own == best)
      ranks[i] = Rank::best;
    else if (merits.size() > 1 && own == *std::next(merits.rbegin()))
      ranks[i] = Rank::second;
  }
  return ranks;
}

std::string marked(const std::string& text, Rank rank, const Marks& marks) {
  if (rank == Rank::best) return marks.best(text);
  return rank == Rank::second ? marks.second(text) : text;
}

struct Column {
  std::string title;
  std::vector<std::string> cells;
  std::vector<Rank> ranks;  // empty: nothing to mark
};

std::vector<Column> columns_of(const Comparison& comparison) {
  const CompareOptions& options = comparison.options;
  std::vector<Column> columns = {
      {"method", {}, {}},
      {"seeds", {}, {}},
      {"final " + options.metric, {}, ranks_of(comparison, final_of)},
      {"mean of last " + std::to_string(options.last), {}, ranks_of(comparison, last_of)}};
  for (const RunGroup& group : comparison.groups) {
    columns[0].cells.push_back(group.label);
    columns[1].cells.push_back(std::to_string(group.seeds.size()));
    columns[2].cells.push_back(spread_text(group.final_value));
    columns[3].cells.push_back(spread_text(group.last_mean));
  }
  return columns;
}

// Characters on the screen: UTF-8 bytes that begin one.
std::size_t width_of(const std::string& text) {
  return static_cast<std::size_t>(std::count_if(text.begin(), text.end(), [](char c) {
    return (static_cast<unsigned char>(c) & 0xc0) != 0x80;
  }));
}

std::string line_end_trimmed(std::string line) {
  line.erase(line.find_last_not_of(' ') + 1);
  return line + "\n";
}

}  // namespace

std::string comparison_text(const Comparison& comparison, const Marks& marks) {
  const auto columns = columns_of(comparison);
  std::vector<std::string> lines(comparison.groups.size() + 1);
  for (const Column& column : columns) {
    std::size_t width = width_of(column.title);
    for (const std::string& cell : column.cells) width = std::max(width, width_of(cell));
    for (std::size_t i = 0; i < lines.size(); ++i) {
      const std::string& cell = i == 0 ? column.title : column.cells[i - 1];
      const Rank rank = i == 0 || column.ranks.empty() ? Rank::other : column.ranks[i - 1];
      lines[i] += (lines[i].empty() ? "" : "  ") + marked(cell, rank, marks) +
                  std::string(width - width_of(cell), ' ');
    }
  }
  std::string text;
  for (const std::string& line : lines) text += line_end_trimmed(line);
  return text;
}

std::string comparison_markdown(const Comparison& comparison) {
  const Marks marks{[](const std::string& text) { return "**" + text + "**"; },
                    [](const std::string& text) { return "<u>" + text + "</u>"; }};
  const auto columns = columns_of(comparison);
  std::string text = "|", rule = "|";
  for (const Column& column : columns) {
    text += " " + column.title + " |";
    rule += column.title == "method" ? " --- |" : " ---: |";
  }
  text += "\n" + rule + "\n";
  for (std::size_t i = 0; i < comparison.groups.size(); ++i) {
    text += "|";
    for (const Column& column : columns) {
      const Rank rank = column.ranks.empty() ? Rank::other : column.ranks[i];
      std::string cell = column.cells[i];
      for (std::size_t at = 0; (at = cell.find('|', at)) != std::string::npos; at += 2) {
        cell.insert(at, "\\");
      }
      text += " " + marked(cell, rank, marks) + " |";
    }
    text += "\n";
  }
  return text;
}

std::string comparison_csv(const Comparison& comparison) {
  CsvLine header;
  header.add("method").add("metric").add("rounds").add("seeds").add("final_mean").add("final_std");
  header.add("last").add("last_mean").add("last_std");
  std::string text = header.text();
  for (const RunGroup& group : comparison.groups) {
    CsvLine line;
    line.add(group.label)
        .add(comparison.options.metric)
        .add(group.rounds)
        .add(group.seeds.size())
        .add(group.final_value.mean)
        .add(group.final_value.deviation)
        .add(comparison.options.last)
        .add(group.last_mean.mean)
        .add(group.last_mean.deviation);
    text += line.text();
  }
  return text;
}

}  // namespace fedvg
