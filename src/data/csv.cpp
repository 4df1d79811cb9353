#include "data/csv.h"

#include <algorithm>
#include <utility>

#include "data/utf8.h"
#include "fedvg/error.h"

namespace fedvg {
namespace {

constexpr std::string_view byte_order_mark = "\xef\xbb\xbf";
constexpr std::string_view blanks = " \t";

bool is_control(char c) {
  const auto byte = static_cast<unsigned char>(c);
  return (byte < 0x20 && c != '\t' && c != '\n' && c != '\r') || byte == 0x7f;
}

// From 1, of a position in a text.
std::int64_t line_of(std::string_view text, std::size_t position) {
  std::int64_t line = 1;
  for (std::size_t i = 0; i < position; ++i) {
    const bool before_newline = i + 1 < text.size() && text[i + 1] == '\n';
    if (text[i] == '\n' || (text[i] == '\r' && !before_newline)) ++line;
  }
  return line;
}

void check_text(std::string_view text, const std::string& name) {
  const auto place = [&](std::size_t at) {
    return name + " line " + std::to_string(line_of(text, at)) + ": the byte " +
           escaped(text.substr(at, 1));
  };
  if (const std::size_t at = first_not_utf8(text); at != std::string_view::npos) {
    throw DataError(place(at) +
                    " is not UTF-8; save the file in this encoding (it may be Latin-1)");
  }
  const auto control = std::ranges::find_if(text, is_control);
  if (control == text.end()) return;
  throw DataError(place(static_cast<std::size_t>(control - text.begin())) +
                  " is a control character, which CSV has not: the file is damaged");
}

}  // namespace

CsvText::CsvText(std::string_view text, std::string name) : text_(text), name_(std::move(name)) {
  if (text_.starts_with(byte_order_mark)) text_.remove_prefix(byte_order_mark.size());
  check_text(text_, name_);
}

std::string CsvText::place() const { return name_ + " line " + std::to_string(line_); }

bool CsvText::at_line_end() const {
  return position_ == text_.size() || text_[position_] == '\n' || text_[position_] == '\r';
}

void CsvText::skip_line_end() {
  if (position_ == text_.size()) return;
  position_ += text_.substr(position_).starts_with("\r\n") ? 2 : 1;
  ++next_line_;
}

void CsvText::skip_blanks() {
  position_ = std::min(text_.find_first_not_of(blanks, position_), text_.size());
}

void CsvText::read_quoted(std::string& field) {
  ++position_;
  for (; position_ < text_.size(); ++position_) {
    const char c = text_[position_];
    if (c == '"' && !text_.substr(position_).starts_with("\"\"")) {
      ++position_;
      skip_blanks();
      if (at_line_end() || text_[position_] == ',') return;
      throw DataError(place() +
                      ": text follows a closing quote; a quote inside a quoted field is "
                      "written twice");
    }
    if (c == '"') ++position_;
    if (c == '\n') ++next_line_;
    field.push_back(c);
  }
  throw DataError(place() + ": a quote is opened, but never closed");
}

void CsvText::read_field(std::string& field) {
  field.clear();
  skip_blanks();
  if (position_ < text_.size() && text_[position_] == '"') return read_quoted(field);
  const std::size_t end = std::min(text_.find_first_of(",\r\n", position_), text_.size());
  field.assign(text_.substr(position_, end - position_));
  position_ = end;
  field.erase(field.find_last_not_of(blanks) + 1);
  if (field.find('"') != std::string::npos) {
    throw DataError(place() + ": a quote inside a field that does not begin with one: " + field);
  }
}

bool CsvText::next(std::vector<std::string>& fields) {
  for (skip_blanks(); position_ < text_.size() && at_line_end(); skip_blanks()) skip_line_end();
  if (position_ == text_.size()) return false;
  line_ = next_line_;
  std::size_t count = 0;
  for (;;) {
    if (count == fields.size()) fields.emplace_back();
    read_field(fields[count++]);
    if (at_line_end()) break;
    ++position_;  // the comma
  }
  fields.resize(count);
  skip_line_end();
  return true;
}

}  // namespace fedvg
