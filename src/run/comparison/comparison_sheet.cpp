#include "run/comparison/comparison_sheet.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <set>

#include "run/csv.h"

namespace fedvg {
namespace {

bool is_bytes(const RunMetric& metric) {
  return metric.kind == RunMetric::Kind::bytes || metric.kind == RunMetric::Kind::bytes_to;
}

// Numbers of one table, with as many places as its metric needs.
class Figures {
 public:
  explicit Figures(const Comparison& comparison)
      : kind_(comparison.metric.kind),
        scale_(is_bytes(comparison.metric) ? byte_unit(comparison).bytes : 1),
        seeds_shown_(comparison.is_grid() && common_seeds(comparison) == 0) {}

  std::string number(double value) const {
    const double scaled = value / scale_;
    if (kind_ == RunMetric::Kind::rounds_to) return fmt::format("{:.1f}", scaled);
    if (kind_ != RunMetric::Kind::column) return fmt::format("{:.2f}", scaled);
    return std::abs(scaled) < 1e5 ? fmt::format("{:.4f}", scaled) : fmt::format("{:.0f}", scaled);
  }

  std::string cell(const SeedResults& results) const {
    if (results.seeds.empty()) return "–";
    std::string text;
    if (results.spread) {
      text = number(results.spread->mean);
      if (results.spread->deviation) text += " ± " + number(*results.spread->deviation);
    }
    if (results.never > 0) text += (text.empty() ? "" : ", ") + never(results);
    if (seeds_shown_) text += fmt::format(" ({})", results.seeds.size());
    return text;
  }

 private:
  // "> 50", "2 of 5 > 50"
  std::string never(const SeedResults& results) const {
    const std::string limit = kind_ == RunMetric::Kind::rounds_to
                                  ? fmt::format("> {:.0f}", results.limit)
                                  : "> " + number(results.limit);
    if (results.never == results.seeds.size()) return limit;
    return fmt::format("{} of {} {}", results.never, results.seeds.size(), limit);
  }

  RunMetric::Kind kind_;
  double scale_;
  bool seeds_shown_;
};

std::vector<Rank> ranks_of(const Comparison& comparison, const Figures& figures,
                           std::size_t column) {
  std::vector<Rank> ranks(comparison.rows.size(), Rank::other);
  const Better better = comparison.metric.better();
  if (better == Better::neither) return ranks;
  const auto ranked = [&](const ComparedRow& row) {
    return row.cells[column].spread && row.cells[column].never == 0;
  };
  // As shown: what a reader cannot tell apart is marked alike.
  const auto merit = [&](const ComparedRow& row) {
    const double shown = std::stod(figures.number(row.cells[column].spread->mean));
    return better == Better::higher ? shown : -shown;
  };
  std::set<double> merits;
  for (const ComparedRow& row : comparison.rows) {
    if (ranked(row)) merits.insert(merit(row));
  }
  if (std::count_if(comparison.rows.begin(), comparison.rows.end(), ranked) < 2) return ranks;
  for (std::size_t i = 0; i < ranks.size(); ++i) {
    const ComparedRow& row = comparison.rows[i];
    if (!ranked(row)) continue;
    if (merit(row) == *merits.rbegin()) {
      ranks[i] = Rank::best;
    } else if (merit(row) == *std::next(merits.rbegin())) {
      ranks[i] = Rank::second;
    }
  }
  return ranks;
}

SheetColumn label_column(const Comparison& comparison) {
  const auto& keys = comparison.options.rows;
  SheetColumn column{.kind = SheetColumn::Kind::text,
                     .title = keys.empty() ? "method" : fmt::format("{}", fmt::join(keys, ", ")),
                     .cells = {},
                     .ranks = {}};
  for (const ComparedRow& row : comparison.rows) column.cells.push_back(row.label);
  return column;
}

SheetColumn seeds_column(const Comparison& comparison) {
  SheetColumn column{.kind = SheetColumn::Kind::count, .title = "seeds", .cells = {}, .ranks = {}};
  for (const ComparedRow& row : comparison.rows) {
    column.cells.push_back(std::to_string(row.cells.front().seeds.size()));
  }
  return column;
}

void add_figures(const Comparison& comparison, Sheet& sheet) {
  const Figures figures(comparison);
  for (std::size_t i = 0; i < comparison.columns.size(); ++i) {
    const ComparedColumn& compared = comparison.columns[i];
    SheetColumn column{.kind = SheetColumn::Kind::figure,
                       .title = comparison.is_grid()
                                    ? fmt::format("{}", fmt::join(compared.values, ", "))
                                    : figure_title(comparison, compared),
                       .cells = {},
                       .ranks = ranks_of(comparison, figures, i)};
    for (const ComparedRow& row : comparison.rows) {
      column.cells.push_back(figures.cell(row.cells[i]));
    }
    sheet.columns.push_back(std::move(column));
  }
}

void add_tests(const Comparison& comparison, Sheet& sheet) {
  std::vector<SheetColumn> columns;
  for (const char* title : {"n", "p", "p (Holm)", "effect"}) {
    columns.push_back({.kind = SheetColumn::Kind::test, .title = title, .cells = {}, .ranks = {}});
  }
  for (const ComparedRow& row : comparison.rows) {
    std::vector<std::string> cells = {"", "baseline", "", ""};
    if (row.test) {
      const auto effect = row.test->test.effect;
      cells = {std::to_string(row.test->test.used), row.test->p ? p_text(*row.test->p) : "–",
               row.test->p_adjusted ? p_text(*row.test->p_adjusted) : "–",
               effect ? fmt::format("{:.3f}", *effect) : "–"};
    }
    for (std::size_t i = 0; i < columns.size(); ++i) columns[i].cells.push_back(cells[i]);
  }
  for (SheetColumn& column : columns) sheet.columns.push_back(std::move(column));
}

}  // namespace

Sheet sheet_of(const Comparison& comparison) {
  Sheet sheet;
  sheet.columns.push_back(label_column(comparison));
  if (!comparison.is_grid()) sheet.columns.push_back(seeds_column(comparison));
  add_figures(comparison, sheet);
  if (comparison.baseline) add_tests(comparison, sheet);
  sheet.grid_title = fmt::format("{}", fmt::join(comparison.options.columns, ", "));
  return sheet;
}

ByteUnit byte_unit(const Comparison& comparison) {
  double largest = 0;
  for (const ComparedRow& row : comparison.rows) {
    for (const SeedResults& cell : row.cells) {
      if (cell.spread) largest = std::max(largest, cell.spread->mean);
      largest = std::max(largest, cell.limit);
    }
  }
  ByteUnit unit;
  for (const char* name : {"kB", "MB", "GB", "TB"}) {
    if (largest < 1000 * unit.bytes) break;
    unit = {name, 1000 * unit.bytes};
  }
  return unit;
}

std::string figure_title(const Comparison& comparison, const ComparedColumn& column) {
  const RunMetric& metric = comparison.metric;
  if (metric.kind != RunMetric::Kind::column) {
    std::string title = metric.kind == RunMetric::Kind::rounds_to ? "rounds" : "bytes";
    if (metric.has_target()) title += " to " + metric.column + " " + shortest(metric.target);
    return is_bytes(metric) ? title + " (" + byte_unit(comparison).name + ")" : title;
  }
  switch (column.at.kind) {
    case MetricAt::Kind::best:
      return metric.column + " at best " + comparison.criterion;
    case MetricAt::Kind::last:
      return comparison.options.at.empty()
                 ? fmt::format("mean of last {}", column.at.last)
                 : fmt::format("{}, mean of last {}", metric.column, column.at.last);
    case MetricAt::Kind::final:
      break;
  }
  return "final " + metric.column;
}

std::size_t common_seeds(const Comparison& comparison) {
  std::set<std::size_t> numbers;
  for (const ComparedRow& row : comparison.rows) {
    for (const SeedResults& cell : row.cells) {
      if (!cell.seeds.empty()) numbers.insert(cell.seeds.size());
    }
  }
  return numbers.size() == 1 ? *numbers.begin() : 0;
}

std::string p_text(double p) { return fmt::format("{:.3g}", p); }

}  // namespace fedvg
