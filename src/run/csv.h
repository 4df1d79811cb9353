#pragma once

#include <concepts>
#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace fedvg {

/// Shortest form that reads back as the same number: "0.1", "1e-08", "-inf"; "nan" whatever
/// its sign.
std::string shortest(double number);

/// One line of a CSV file, cell by cell. What was not measured is an empty cell; text
/// with a comma, quote or line end is quoted (RFC 4180).
class CsvLine {
 public:
  CsvLine& add(std::string_view text);
  CsvLine& add(const char* text) { return add(std::string_view(text)); }
  CsvLine& add(double number) { return add(std::string_view(shortest(number))); }
  template <std::integral Integer>
  CsvLine& add(Integer number) {
    return add(std::string_view(std::to_string(number)));
  }
  template <class T>
  CsvLine& add(const std::optional<T>& measured) {
    return measured ? add(*measured) : add("");
  }
  /// A NaN that stands for "not measured".
  CsvLine& add_unless_nan(double number);

  /// With the line end.
  std::string text() const { return text_ + "\n"; }

 private:
  std::string text_;
  bool first_ = true;
};

/// A CSV file of a run folder, read back.
struct CsvTable {
  std::vector<std::string> columns;
  std::vector<std::vector<std::string>> rows;  ///< each as wide as `columns`

  std::optional<std::size_t> column(std::string_view name) const;
};

/// Throws DataError naming file and line: cannot be read, no header, a line of another
/// width, a quote that does not end.
CsvTable read_csv(const std::filesystem::path& path);

/// A cell as a number; empty for an empty cell. Throws DataError with `where` in front
/// when it is neither.
std::optional<double> number_in(const std::string& cell, const std::string& where);

}  // namespace fedvg
