#pragma once

#include <cstdint>
#include <initializer_list>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

namespace fedvg {

/// Where a setting was written: a TOML file and line, or the command line.
struct Source {
  std::string file;       ///< path as given, "--set" for the command line, empty for a default
  std::int64_t line = 0;  ///< from 1; 0 where there is none
  std::string text() const { return line > 0 ? file + ":" + std::to_string(line) : file; }
};

class Value;
using Array = std::vector<Value>;

/// Settings by key, in the order in which they were written. Keys are unique.
/// Equality compares keys and values, not the order.
class Table {
 public:
  using Entry = std::pair<std::string, Value>;

  Table() = default;
  Table(std::initializer_list<Entry> entries);

  const Value* find(std::string_view key) const;
  Value* find(std::string_view key);
  /// Adds or replaces.
  Value& set(std::string_view key, Value value);
  /// True when there was such a key.
  bool erase(std::string_view key);

  const std::vector<Entry>& entries() const { return entries_; }
  std::vector<Entry>& entries() { return entries_; }
  bool empty() const;
  bool operator==(const Table& other) const;

 private:
  std::vector<Entry> entries_;
};

/// One setting: what TOML knows (without dates), and where it was written.
/// Equality compares the content, not the source.
class Value {
 public:
  using Content = std::variant<bool, std::int64_t, double, std::string, Array, Table>;

  Value(bool v) : content(v) {}                      // NOLINT: meant to convert
  Value(std::int64_t v) : content(v) {}              // NOLINT
  Value(int v) : content(std::int64_t{v}) {}         // NOLINT
  Value(double v) : content(v) {}                    // NOLINT
  Value(std::string v) : content(std::move(v)) {}    // NOLINT
  Value(const char* v) : content(std::string(v)) {}  // NOLINT
  Value(Array v) : content(std::move(v)) {}          // NOLINT
  Value(Table v) : content(std::move(v)) {}          // NOLINT

  template <class T>
  const T* get() const {
    return std::get_if<T>(&content);
  }
  template <class T>
  T* get() {
    return std::get_if<T>(&content);
  }

  /// "integer", "string", "table", …, for messages.
  const char* type_name() const;
  /// As TOML would write it on one line; numbers in shortest round-trip form.
  std::string text() const;
  bool operator==(const Value& other) const { return content == other.content; }

  Content content;
  Source source;
};

}  // namespace fedvg
