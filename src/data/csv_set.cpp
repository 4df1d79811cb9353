#include "data/csv_set.h"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <limits>
#include <optional>
#include <set>
#include <span>
#include <string_view>
#include <system_error>
#include <utility>

#include "data/csv.h"
#include "data/file_bytes.h"
#include "data/test_holdout.h"
#include "data/wording.h"
#include "fedvg/error.h"

namespace fedvg {
namespace {

constexpr std::size_t nowhere = std::numeric_limits<std::size_t>::max();

std::string in_quotes(const std::string& text) { return '"' + text + '"'; }

// Empty when `text` is no number; may be infinite or NaN.
std::optional<double> number(std::string_view text) {
  if (text.starts_with('+')) text.remove_prefix(1);
  double value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (end != text.data() + text.size()) return std::nullopt;
  if (error == std::errc::result_out_of_range)
    return std::strtod(std::string(text).c_str(), nullptr);
  return error == std::errc() ? std::optional(value) : std::nullopt;
}

bool is_finite_number(const std::string& text) {
  const auto value = number(text);
  return value && std::isfinite(*value);
}

// The file as it is; the first bytes tell what cannot be CSV.
std::vector<std::uint8_t> read_text(const std::string& path) {
  auto bytes = read_file_bytes(path);
  if (bytes.empty()) throw DataError(path + " is empty (0 bytes); get the file again");
  const auto start = std::span(bytes).first(std::min<std::size_t>(bytes.size(), 512));
  const std::string content = describe_content(start);
  if (content != "text") {
    throw DataError(path + " is " + content +
                    ", but CSV is text (UTF-8): a line of column names, "
                    "then a line a sample, with commas between");
  }
  return bytes;
}

// Which column of a file is what; `nowhere` for none.
struct Columns {
  std::size_t count = 0, label = nowhere, owner = nowhere;
  std::vector<std::size_t> features;
};

class Header {
 public:
  Header(CsvText& text, const std::string& path) : path_(path) {
    if (!text.next(names_)) throw DataError(path + " holds only empty lines");
    if (std::ranges::all_of(names_, is_finite_number)) {
      throw DataError(text.place() +
                      " holds numbers, but the first line names the columns: put "
                      "a line of names above");
    }
    if (names_.size() == 1 && names_[0].find_first_of(";\t") != std::string::npos) {
      throw DataError(text.place() +
                      " has no comma: columns are separated by commas, not by "
                      "semicolons or tabulators");
    }
    std::set<std::string> seen;
    for (std::size_t i = 0; i < names_.size(); ++i) {
      if (names_[i].empty()) {
        throw DataError(text.place() + ": column " + std::to_string(i + 1) + " has no name");
      }
      if (!seen.insert(names_[i]).second) {
        throw DataError(text.place() + ": two columns are named " + in_quotes(names_[i]));
      }
    }
  }

  const std::vector<std::string>& names() const { return names_; }
  std::size_t find(const std::string& name) const {
    const auto found = std::ranges::find(names_, name);
    return found == names_.end() ? nowhere : static_cast<std::size_t>(found - names_.begin());
  }
  // Of a column that the setting `key` names.
  std::size_t existing(const std::string& name, const std::string& key) const {
    const std::size_t column = find(name);
    if (column != nowhere) return column;
    throw OptionError(key + ": " + path_ + " has no column " + in_quotes(name) + "; it has " +
                      some_of(names_));
  }

 private:
  std::string path_;
  std::vector<std::string> names_;
};

// The roles of the training file's columns.
Columns assign_roles(const Header& header, const CsvFiles& files, const std::string& owner) {
  Columns columns;
  columns.count = header.names().size();
  columns.label = header.existing(files.label, "data.label");
  if (!owner.empty()) columns.owner = header.existing(owner, "partition.column");
  if (columns.owner == columns.label) {
    throw OptionError("partition.column: " + in_quotes(owner) +
                      " is the label's column (data.label), and cannot be the owner's as well");
  }
  std::vector<bool> feature(columns.count, true);
  feature[columns.label] = false;
  if (columns.owner != nowhere) feature[columns.owner] = false;
  for (const std::string& name : files.ignored) {
    if (files.may_lack_ignored && header.find(name) == nowhere) continue;
    const std::size_t column = header.existing(name, "data.ignore");
    if (column == columns.label || column == columns.owner) {
      throw OptionError("data.ignore: " + in_quotes(name) + " is needed as the column of " +
                        (column == columns.label ? "labels" : "owners"));
    }
    feature[column] = false;
  }
  for (std::size_t i = 0; i < feature.size(); ++i) {
    if (feature[i]) columns.features.push_back(i);
  }
  if (columns.features.empty()) {
    throw DataError(files.training + " has no column of features; its columns are " +
                    some_of(header.names()));
  }
  return columns;
}

// The same roles in another file, by name.
Columns same_roles(const Header& header, const Header& training, const Columns& roles,
                   const CsvFiles& files) {
  const auto counterpart = [&](std::size_t column) {
    const std::string& name = training.names()[column];
    const std::size_t found = header.find(name);
    if (found != nowhere) return found;
    throw DataError(files.test + " has no column " + in_quotes(name) + ", as " + files.training +
                    " has");
  };
  Columns columns;
  columns.count = header.names().size();
  columns.label = counterpart(roles.label);
  for (const std::size_t feature : roles.features) columns.features.push_back(counterpart(feature));
  if (roles.owner != nowhere) columns.owner = header.find(training.names()[roles.owner]);
  for (const std::string& name : header.names()) {
    if (training.find(name) == nowhere) {
      throw DataError(files.test + " has the column " + in_quotes(name) + ", but " +
                      files.training + " has not");
    }
  }
  return columns;
}

struct Rows {
  Samples samples;                  // without labels
  std::vector<std::string> labels;  // as written
  std::vector<std::int64_t> lines;
};

float feature_of(const std::string& text, const std::string& place, const std::string& column) {
  const auto value = number(text);
  const auto feature = static_cast<float>(value.value_or(0));
  if (value && std::isfinite(feature)) return feature;
  const std::string where = place + ", column " + in_quotes(column) + ": ";
  if (text.empty()) throw DataError(where + "empty; fill in a number, or leave the row out");
  if (!value) {
    throw DataError(where + in_quotes(text) +
                    " is not a number; a column that is no feature is named by data.label, "
                    "partition.column or data.ignore");
  }
  throw DataError(where + in_quotes(text) + " is not a finite 32-bit number");
}

Rows read_rows(CsvText& text, const Header& header, const Columns& columns,
               const std::string& path) {
  Rows rows;
  Samples& samples = rows.samples;
  samples.channels = std::ssize(columns.features);
  samples.height = samples.width = 1;
  samples.is_features = true;
  std::vector<float> features(columns.features.size());
  std::vector<std::string> fields;
  while (text.next(fields)) {
    if (fields.size() != columns.count) {
      throw DataError(text.place() + " has " + std::to_string(fields.size()) +
                      " fields, but the first line names " + std::to_string(columns.count) +
                      " columns");
    }
    for (std::size_t f = 0; f < features.size(); ++f) {
      const std::size_t column = columns.features[f];
      features[f] = feature_of(fields[column], text.place(), header.names()[column]);
    }
    const auto bytes = std::as_bytes(std::span(features));
    const auto* first = reinterpret_cast<const std::uint8_t*>(bytes.data());
    samples.pixels.insert(samples.pixels.end(), first, first + bytes.size());
    for (const std::size_t column : {columns.label, columns.owner}) {
      if (column == nowhere || !fields[column].empty()) continue;
      throw DataError(text.place() + ", column " + in_quotes(header.names()[column]) +
                      ": empty; every sample has a " +
                      (column == columns.label ? "label" : "client"));
    }
    rows.labels.push_back(fields[columns.label]);
    rows.lines.push_back(text.line());
    if (columns.owner != nowhere) samples.owners.push_back(fields[columns.owner]);
  }
  if (rows.labels.empty()) throw DataError(path + " has a line of column names, but no samples");
  return rows;
}

// The different labels in their order, and which of them a label is.
class LabelClasses {
 public:
  explicit LabelClasses(const std::vector<std::string>& labels) {
    const std::set<std::string> different(labels.begin(), labels.end());
    numeric_ = std::ranges::all_of(different, is_finite_number);
    names_.assign(different.begin(), different.end());
    if (!numeric_) return;
    std::ranges::stable_sort(names_, {}, value);
    const auto same = [](const auto& a, const auto& b) { return value(a) == value(b); };
    names_.erase(std::unique(names_.begin(), names_.end(), same), names_.end());  // 1 and 1.0
  }

  const std::vector<std::string>& names() const { return names_; }
  std::optional<std::int64_t> find(const std::string& label) const {
    if (numeric_ && !is_finite_number(label)) return std::nullopt;
    const auto found = numeric_ ? std::ranges::lower_bound(names_, value(label), {}, value)
                                : std::ranges::lower_bound(names_, label);
    if (found == names_.end()) return std::nullopt;
    if (numeric_ ? value(*found) != value(label) : *found != label) return std::nullopt;
    return found - names_.begin();
  }

 private:
  static double value(const std::string& label) { return number(label).value_or(0); }

  bool numeric_ = false;
  std::vector<std::string> names_;
};

Samples labelled(Rows rows, const LabelClasses& classes, const CsvFiles& files,
                 const std::string& path) {
  for (std::size_t i = 0; i < rows.labels.size(); ++i) {
    const auto label = classes.find(rows.labels[i]);
    if (!label) {
      throw DataError(path + " line " + std::to_string(rows.lines[i]) + ", column " +
                      in_quotes(files.label) + ": " + files.training + " has no class " +
                      in_quotes(rows.labels[i]) + "; it has " + some_of(classes.names()));
    }
    rows.samples.labels.push_back(*label);
  }
  return std::move(rows.samples);
}

class CsvFile {
 public:
  explicit CsvFile(const std::string& path)
      : bytes_(read_text(path)),
        text_({reinterpret_cast<const char*>(bytes_.data()), bytes_.size()}, path),
        header_(text_, path),
        path_(path) {}

  const Header& header() const { return header_; }
  Rows rows(const Columns& columns) { return read_rows(text_, header_, columns, path_); }

 private:
  std::vector<std::uint8_t> bytes_;
  CsvText text_;
  Header header_;
  std::string path_;
};

}  // namespace

Dataset read_csv_set(const CsvFiles& files, const ReadRequest& request) {
  CsvFile training(files.training);
  const Columns columns = assign_roles(training.header(), files, request.owner_column);
  Rows rows = training.rows(columns);
  const LabelClasses classes(rows.labels);

  Dataset dataset;
  dataset.source = files.training;
  dataset.classes = classes.names();
  dataset.training = labelled(std::move(rows), classes, files, files.training);
  if (files.test.empty()) {
    hold_out_test(dataset, request);
    return dataset;
  }
  CsvFile test(files.test);
  Rows test_rows = test.rows(same_roles(test.header(), training.header(), columns, files));
  dataset.test = labelled(std::move(test_rows), classes, files, files.test);
  return dataset;
}

}  // namespace fedvg
