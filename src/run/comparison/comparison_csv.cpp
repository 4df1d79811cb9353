#include "run/comparison/comparison_table.h"
#include "run/csv.h"

namespace fedvg {
namespace {

// The two usual figures side by side.
bool is_usual(const Comparison& comparison) {
  const CompareOptions& options = comparison.options;
  return options.rows.empty() && options.at.empty() && comparison.columns.size() == 2;
}

std::optional<double> mean_of(const SeedResults& cell) {
  return cell.spread ? std::optional(cell.spread->mean) : std::nullopt;
}

std::optional<double> deviation_of(const SeedResults& cell) {
  return cell.spread ? cell.spread->deviation : std::nullopt;
}

void add_test_header(const Comparison& comparison, CsvLine& line) {
  if (!comparison.baseline) return;
  line.add("baseline").add("pairs").add("n").add("p").add("p_holm").add("effect").add("p_is");
}

void add_test(const Comparison& comparison, const ComparedRow& row, CsvLine& line) {
  if (!comparison.baseline) return;
  line.add(comparison.rows[*comparison.baseline].label);
  if (!row.test) {
    for (int i = 0; i < 6; ++i) line.add("");
    return;
  }
  const SignedRank& test = row.test->test;
  line.add(test.pairs).add(test.used).add(row.test->p).add(row.test->p_adjusted).add(test.effect);
  line.add(!row.test->p ? "" : test.exact ? "exact" : "normal");
}

std::string usual_csv(const Comparison& comparison) {
  CsvLine header;
  header.add("method").add("metric").add("rounds").add("seeds").add("final_mean").add("final_std");
  header.add("last").add("last_mean").add("last_std");
  add_test_header(comparison, header);
  std::string text = header.text();
  for (const ComparedRow& row : comparison.rows) {
    CsvLine line;
    line.add(row.label)
        .add(comparison.options.metric)
        .add(row.rounds)
        .add(row.cells[0].seeds.size())
        .add(mean_of(row.cells[0]))
        .add(deviation_of(row.cells[0]))
        .add(comparison.columns[1].at.last)
        .add(mean_of(row.cells[1]))
        .add(deviation_of(row.cells[1]));
    add_test(comparison, row, line);
    text += line.text();
  }
  return text;
}

// Empty for a metric of the whole run.
std::string at_text(const Comparison& comparison, const MetricAt& at) {
  if (comparison.metric.kind != RunMetric::Kind::column) return "";
  switch (at.kind) {
    case MetricAt::Kind::best:
      return "best:" + comparison.criterion;
    case MetricAt::Kind::last:
      return "last:" + std::to_string(at.last);
    case MetricAt::Kind::final:
      break;
  }
  return "final";
}

std::string cells_csv(const Comparison& comparison) {
  const auto& options = comparison.options;
  CsvLine header;
  if (options.rows.empty()) header.add("method");
  for (const auto& key : options.rows) header.add(key);
  for (const auto& key : options.columns) header.add(key);
  header.add("metric").add("at").add("seeds").add("mean").add("std").add("never").add("limit");
  add_test_header(comparison, header);
  std::string text = header.text();
  for (const ComparedRow& row : comparison.rows) {
    for (std::size_t i = 0; i < row.cells.size(); ++i) {
      const ComparedColumn& column = comparison.columns[i];
      const SeedResults& cell = row.cells[i];
      CsvLine line;
      for (const auto& value : row.values) line.add(value);
      for (const auto& value : column.values) line.add(value);
      line.add(options.metric).add(at_text(comparison, column.at)).add(cell.seeds.size());
      line.add(mean_of(cell)).add(deviation_of(cell)).add(cell.never);
      line.add(cell.never > 0 ? std::optional(cell.limit) : std::nullopt);
      add_test(comparison, row, line);
      text += line.text();
    }
  }
  return text;
}

}  // namespace

std::string comparison_csv(const Comparison& comparison) {
  return is_usual(comparison) ? usual_csv(comparison) : cells_csv(comparison);
}

}  // namespace fedvg
