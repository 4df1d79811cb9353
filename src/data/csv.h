#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace fedvg {

/// Records of comma-separated text (RFC 4180), front to back: fields may be quoted, then hold
/// commas, line ends and doubled quotes; blanks around a field do not count; lines end in LF,
/// CRLF or CR; empty lines and a byte order mark are skipped.
class CsvText {
 public:
  /// `name` is for messages; `text` must outlive the object. Throws DataError naming the line
  /// of a byte that is no text: not UTF-8, or a control character.
  CsvText(std::string_view text, std::string name);

  /// Fills `fields` with the next record; false at the end. Throws DataError naming the line
  /// of a quote that is never closed or stands where none may.
  bool next(std::vector<std::string>& fields);
  /// The line at which the last record began, from 1.
  std::int64_t line() const { return line_; }
  /// "set.csv line 7"
  std::string place() const;

 private:
  bool at_line_end() const;
  void skip_line_end();
  void skip_blanks();
  void read_field(std::string& field);
  void read_quoted(std::string& field);

  std::string_view text_;
  std::string name_;
  std::size_t position_ = 0;
  std::int64_t line_ = 0;       // of the record
  std::int64_t next_line_ = 1;  // of position_
};

}  // namespace fedvg
