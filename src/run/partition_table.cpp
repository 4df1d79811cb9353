#include "run/partition_table.h"

#include <algorithm>
#include <numeric>

#include <vector>
#include "data/class_counts.h"

namespace fedvg {
namespace {

using Counts = std::vector<std::int64_t>;

struct Row {
  std::string name;
  Counts counts;
};

std::string client_name(const FederatedData& data, std::size_t client) {
  const std::string number = std::to_string(client);
  return data.client_names.empty() ? number : number + " " + data.client_names[client];
}

std::vector<Row> rows_of(const FederatedData& data) {
  std::vector<Row> rows;
  Counts sum(data.dataset.classes.size());
  for (std::size_t k = 0; k < data.counts.size(); ++k) {
    rows.push_back({client_name(data, k), data.counts[k]});
    for (std::size_t c = 0; c < sum.size(); ++c) sum[c] += data.counts[k][c];
  }
  if (!data.validation.empty()) {
    rows.push_back(
        {"D_val", class_counts(data.validation, data.validation_samples().labels, sum.size())});
  }
  if (data.pooled)
    rows.push_back({"test", class_counts(data.test, data.test_samples().labels, sum.size())});
  rows.push_back({"clients", sum});
  return rows;
}

std::string right(const std::string& text, std::size_t width) {
  return std::string(width - std::min(width, text.size()), ' ') + text;
}

}  // namespace

std::string partition_table(const FederatedData& data) {
  const auto rows = rows_of(data);
  std::size_t width = 3, name_width = 8;
  for (const Row& row : rows) {
    name_width = std::max(name_width, row.name.size() + 1);
    for (const std::int64_t count : row.counts) {
      width = std::max(width, std::to_string(count).size());
    }
  }
  std::string text = "classes:";
  for (std::size_t c = 0; c < data.dataset.classes.size(); ++c) {
    text += (c ? ", " : " ") + std::to_string(c) + " = " + data.dataset.classes[c];
  }
  text += "\n\n" + right("client", name_width) + right("samples", 9);
  for (std::size_t c = 0; c < data.dataset.classes.size(); ++c) {
    text += right(std::to_string(c), width + 1);
  }
  text += "\n";
  for (const Row& row : rows) {
    const auto total = std::accumulate(row.counts.begin(), row.counts.end(), std::int64_t{0});
    text += right(row.name, name_width) + right(std::to_string(total), 9);
    for (const std::int64_t count : row.counts) text += right(std::to_string(count), width + 1);
    text += "\n";
  }
  return text;
}

}  // namespace fedvg
