#include "config/toml_file.h"

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <fstream>
#include <functional>
#include <tuple>
#include <vector>

#include "config/toml_parser.h"
#include "config/toml_text.h"
#include "fedvg/error.h"

namespace fedvg::config {
namespace {

constexpr std::size_t kMostBytes = 1 << 20;
constexpr std::size_t kMostKeyParts = 32;
// Of keys and values together: what is written inline must be read again.
constexpr int kMostLevels = 32;

[[noreturn]] void refuse(const std::string& name, std::int64_t line, const std::string& message) {
  throw OptionError(Source{name, line}.text() + ": " + message);
}

/// An integer that 64 bits do not hold; `reason` is the message without its place.
struct TooLarge : OptionError {
  TooLarge(const std::string& place, const std::string& why)
      : OptionError(place + ": " + why), reason(why) {}
  std::string reason;
};

// The integer, where toml++'s message is about one that is too large: "… '99…9' is not
// representable in 64 bits".
std::string too_large_in(std::string_view description) {
  const std::size_t begin = description.find('\''), end = description.rfind('\'');
  if (description.find("is not representable in 64 bits") == description.npos || begin == end) {
    return "";
  }
  return std::string(description.substr(begin + 1, end - begin - 1));
}

// toml++ bounds nested values, not the parts of a dotted key; a tree of a hundred
// thousand levels would overflow the stack. Counts the dots of each key outside strings
// and comments; what is not TOML may be counted wrongly and is refused afterwards.
void check_key_depth(std::string_view text, const std::string& name) {
  std::int64_t line = 1;
  std::size_t dots = 0;
  for (std::size_t i = 0; i < text.size(); ++i) {
    const char c = text[i];
    if (c == '"' || c == '\'') {
      const bool multiline = text.substr(i, 3) == std::string(3, c);
      const std::string_view quotes = text.substr(i, multiline ? 3 : 1);
      for (i += quotes.size(); i < text.size() && !text.substr(i).starts_with(quotes); ++i) {
        if (c == '"' && text[i] == '\\') ++i;
        if (i >= text.size() || text[i] != '\n') continue;
        if (!multiline) break;
        ++line;
      }
      if (!text.substr(std::min(i, text.size())).starts_with(quotes)) {
        --i;  // not closed: the newline, or the end, is looked at again
        continue;
      }
      i += quotes.size() - 1;
      for (int extra = 0; multiline && extra < 2 && text.substr(i + 1).starts_with(c); ++extra) ++i;
      continue;
    }
    if (c == '#') i = std::min(text.find('\n', i), text.size() - 1);
    if (text[i] == '\n') ++line;
    if (c == '.') {
      if (++dots >= kMostKeyParts) {
        refuse(name, line, "a key of more than " + std::to_string(kMostKeyParts) + " parts");
      }
    } else if (std::strchr("\n#=,[]{}", c)) {
      dots = 0;
    }
  }
}

// The line of a failed assertion: the first lines up to it fail in the same way.
std::int64_t failing_line(std::string_view text) {
  std::vector<std::size_t> ends;
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (text[i] == '\n') ends.push_back(i + 1);
  }
  const auto fails = [&](std::size_t end) {
    try {
      static_cast<void>(toml::parse(text.substr(0, end)));
    } catch (const toml::parse_error&) {
    } catch (const FailedAssertion&) {
      return true;
    }
    return false;
  };
  const auto first = std::partition_point(ends.begin(), ends.end(), std::not_fn(fails));
  return first - ends.begin() + 1;
}

class Conversion {
 public:
  explicit Conversion(std::string name) : name_(std::move(name)) {}

  // `level` counts from 1.
  Table table(const toml::table& from, int level) const {
    struct Placed {
      toml::source_position at;
      const toml::key* key;
      const toml::node* node;
    };
    std::vector<Placed> placed;
    for (auto&& [key, node] : from) placed.push_back({key.source().begin, &key, &node});
    std::stable_sort(placed.begin(), placed.end(), [](const Placed& a, const Placed& b) {
      return std::tie(a.at.line, a.at.column) < std::tie(b.at.line, b.at.column);
    });
    Table table;  // its keys are unique already: set() would look for each
    for (const auto& [at, key, node] : placed) {
      table.entries().emplace_back(std::string(key->str()), value(*node, at.line, level));
    }
    return table;
  }

 private:
  Value value(const toml::node& node, std::int64_t line, int level) const {
    if (level > kMostLevels) {
      refuse(name_, line, "nested deeper than " + std::to_string(kMostLevels) + " levels");
    }
    Value result = content(node, line, level);
    result.source = {name_, line};
    return result;
  }

  Value content(const toml::node& node, std::int64_t line, int level) const {
    if (const auto* v = node.as_boolean()) return v->get();
    if (const auto* v = node.as_integer()) return v->get();
    if (const auto* v = node.as_floating_point()) return v->get();
    if (const auto* v = node.as_string()) return v->get();
    if (const auto* v = node.as_table()) return table(*v, level + 1);
    if (const auto* v = node.as_array()) {
      Array array;
      for (const auto& item : *v) array.push_back(value(item, item.source().begin.line, level + 1));
      return array;
    }
    refuse(name_, line, "no option takes a date or time; put quotes around a text");
  }

  std::string name_;
};

}  // namespace

Table read_toml(std::string_view text, const std::string& name) {
  if (text.size() > kMostBytes) refuse(name, 0, "larger than 1 MiB, which is no configuration");
  check_key_depth(text, name);
  try {
    return Conversion(name).table(toml::parse(text), 1);
  } catch (const toml::parse_error& e) {
    const std::string integer = too_large_in(e.description());
    if (!integer.empty()) {
      throw TooLarge(Source{name, e.source().begin.line}.text(),
                     integer + " is too large, the largest integer is 9223372036854775807");
    }
    refuse(name, e.source().begin.line, std::string(e.description()));
  } catch (const FailedAssertion&) {
    refuse(name, failing_line(text), "not TOML");
  }
}

Table read_toml_file(const std::filesystem::path& path) {
  const auto fail = [&](const std::string& why) { refuse(path.string(), 0, why); };
  std::error_code ignored;
  if (std::filesystem::is_directory(path, ignored)) fail("a folder, not a configuration file");
  std::ifstream file(path, std::ios::binary);
  if (!file) fail(std::string("cannot be read: ") + std::strerror(errno));
  std::string text(kMostBytes + 1, '\0');
  file.read(text.data(), static_cast<std::streamsize>(text.size()));
  if (file.bad()) fail("cannot be read");
  text.resize(static_cast<std::size_t>(file.gcount()));
  return read_toml(text, path.string());
}

void set_source(Value& value, const Source& source) {
  value.source = source;
  if (Array* list = value.get<Array>()) {
    for (Value& item : *list) set_source(item, source);
  }
  if (Table* table = value.get<Table>()) {
    for (auto& [key, item] : table->entries()) set_source(item, source);
  }
}

std::optional<Value> read_toml_value(std::string_view text, const Source& source) {
  // A comment or a second key behind the value passes at most one of the two forms.
  const std::string bare(text);
  try {
    Table plain = read_toml("v = " + bare, source.file);
    Table inside = read_toml("v = {v = " + bare + "}", source.file);
    if (plain.entries().size() != 1) return std::nullopt;
    Value& value = plain.entries()[0].second;
    if (inside != Table{{"v", Table{{"v", value}}}} && value.text() != "nan") return std::nullopt;
    set_source(value, source);
    return std::move(value);
  } catch (const OptionError&) {
    return std::nullopt;
  }
}

std::string too_large_integer(std::string_view text) {
  try {
    read_toml("v = " + std::string(text), "");
  } catch (const TooLarge& error) {
    return error.reason;
  } catch (const OptionError&) {
  }
  return "";
}

std::string write_toml(const Table& document) {
  const auto line = [](const Table::Entry& entry) {
    return toml_key(entry.first) + " = " + entry.second.text() + "\n";
  };
  std::string text;
  for (const auto& entry : document.entries()) {
    if (!entry.second.get<Table>()) text += line(entry);
  }
  for (const auto& [key, value] : document.entries()) {
    const Table* section = value.get<Table>();
    if (!section) continue;
    text += (text.empty() ? "[" : "\n[") + toml_key(key) + "]\n";
    for (const auto& entry : section->entries()) text += line(entry);
  }
  return text;
}

}  // namespace fedvg::config
