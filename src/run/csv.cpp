#include "run/csv.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <fstream>
#include <iterator>

#include "fedvg/error.h"

namespace fedvg {

std::string shortest(double number) {
  if (std::isnan(number)) return "nan";
  std::array<char, 32> text{};
  const auto end = std::to_chars(text.data(), text.data() + text.size(), number).ptr;
  return {text.data(), end};
}

CsvLine& CsvLine::add(std::string_view text) {
  if (!first_) text_ += ',';
  first_ = false;
  if (text.find_first_of(",\"\r\n") == std::string_view::npos) {
    text_ += text;
    return *this;
  }
  text_ += '"';
  for (const char c : text) text_.append(c == '"' ? 2 : 1, c);
  text_ += '"';
  return *this;
}

CsvLine& CsvLine::add_unless_nan(double number) {
  return std::isnan(number) ? add("") : add(number);
}

std::optional<std::size_t> CsvTable::column(std::string_view name) const {
  const auto found = std::find(columns.begin(), columns.end(), name);
  if (found == columns.end()) return std::nullopt;
  return static_cast<std::size_t>(found - columns.begin());
}

CsvTable read_csv(const std::filesystem::path& path) {
  std::ifstream in(path, std::ios::binary);
  if (!in) throw DataError(path.string() + ": cannot be read");
  const std::string text{std::istreambuf_iterator<char>(in), {}};

  CsvTable table;
  std::vector<std::string> line(1);
  std::int64_t number = 1;
  bool quoted = false;
  const auto refuse = [&](const std::string& what) {
    throw DataError(path.string() + ":" + std::to_string(number) + ": " + what);
  };
  const auto end_line = [&] {
    if (table.columns.empty()) {
      table.columns = std::move(line);
    } else if (line.size() != table.columns.size()) {
      refuse(std::to_string(line.size()) + " cells, but the header has " +
             std::to_string(table.columns.size()));
    } else {
      table.rows.push_back(std::move(line));
    }
    line.assign(1, "");
    ++number;
  };
  for (std::size_t i = 0; i < text.size(); ++i) {
    const char c = text[i];
    if (quoted) {
      if (c != '"') {
        line.back() += c;
      } else if (i + 1 < text.size() && text[i + 1] == '"') {
        line.back() += text[++i];
      } else {
        quoted = false;
      }
    } else if (c == '"' && line.back().empty()) {
      quoted = true;
    } else if (c == ',') {
      line.emplace_back();
    } else if (c == '\n') {
      end_line();
    } else if (c != '\r') {
      line.back() += c;
    }
  }
  if (quoted) refuse("a quote that does not end");
  if (line.size() > 1 || !line.back().empty()) end_line();
  if (table.columns.empty()) refuse("empty: no header");
  return table;
}

std::optional<double> number_in(const std::string& cell, const std::string& where) {
  if (cell.empty()) return std::nullopt;
  double number = 0;
  const auto [end, error] = std::from_chars(cell.data(), cell.data() + cell.size(), number);
  if (error != std::errc() || end != cell.data() + cell.size()) {
    throw DataError(where + ": '" + cell + "' is not a number");
  }
  return number;
}

}  // namespace fedvg
