#include "run/sweep/sweep_names.h"

#include <algorithm>
#include <map>

#include "data/content_hash.h"
#include "run/csv.h"

namespace fedvg {
namespace {

constexpr std::size_t kLongestValue = 24, kLongestName = 120;

bool is_letter_or_digit(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9');
}

std::string digits_of(const std::string& text) {
  ContentHash hash;
  hash.add_text(text);
  return hash.digits().substr(0, 6);
}

std::string plain(std::string text) {
  for (char& c : text) {
    if (!is_letter_or_digit(c) && c != '.' && c != '_' && c != '+' && c != '-') c = '_';
  }
  if (!text.empty() && !is_letter_or_digit(text.front())) text.front() = '_';
  return text;
}

bool is_number(const Value& value) { return value.get<std::int64_t>() || value.get<double>(); }

// Without what only TOML needs: quotes, brackets, the word "name", a point that makes 1 a 1.0.
std::string bare(const Value& value) {
  if (const auto* text = value.get<std::string>()) return *text;
  if (const auto* number = value.get<double>()) return shortest(*number);
  std::string text;
  const auto add = [&](const std::string& piece) { text += (text.empty() ? "" : "_") + piece; };
  if (const Array* list = value.get<Array>()) {
    for (const Value& item : *list) add(bare(item));
    return text;
  }
  if (const Table* table = value.get<Table>()) {
    for (const auto& [key, item] : table->entries()) {
      if (key != "name") add(key);
      add(bare(item));
    }
    return text;
  }
  return value.text();
}

std::string value_text(const Value& value) {
  const std::string text = bare(value);
  if (is_number(value)) return text;
  if (text.empty()) return "empty";
  const std::string shown = plain(text);
  if (shown == text && text.size() <= kLongestValue) return text;
  // A path is told by its end.
  const std::size_t slash = text.find_last_of('/');
  const std::string end = slash + 1 < text.size() ? plain(text.substr(slash + 1)) : shown;
  return end.substr(0, kLongestValue - 8) + "." + digits_of(value.text());
}

std::string last_parts(const std::string& key, std::size_t parts) {
  std::size_t at = key.size();
  for (; parts > 0 && at != std::string::npos; --parts) {
    at = at == 0 ? std::string::npos : key.rfind('.', at - 1);
  }
  return at == std::string::npos ? key : key.substr(at + 1);
}

bool chooses_a_part(const std::string& key) { return key.ends_with(".name"); }

std::string label_of(const std::string& key, const std::vector<std::string>& keys) {
  if (key == "seed") return "s";
  if (chooses_a_part(key)) return "";
  for (std::size_t parts = 1;; ++parts) {
    const std::string label = last_parts(key, parts);
    const auto ends_alike = [&](const std::string& other) {
      return other != key && last_parts(other, parts) == label;
    };
    if (label == key || std::none_of(keys.begin(), keys.end(), ends_alike)) return plain(label);
  }
}

std::string piece(const std::string& label, const Value& value) {
  const std::string text = value_text(value);
  if (label.empty()) return plain(text);
  const bool close = is_number(value) && !(label.back() >= '0' && label.back() <= '9');
  return label + (close ? "" : "_") + text;
}

std::string everything(const SweepSettings& run) {
  std::string text;
  for (const auto& [key, value] : run) text += key + "=" + value.text() + "\n";
  return text;
}

std::string folded(std::string name) {
  for (char& c : name) {
    if (c >= 'A' && c <= 'Z') c = static_cast<char>(c - 'A' + 'a');
  }
  return name;
}

}  // namespace

std::vector<std::string> sweep_run_names(const std::vector<SweepSettings>& runs,
                                         const std::vector<std::string>& keys) {
  std::map<std::string, std::string> labels;
  for (const auto& key : keys) labels[key] = label_of(key, keys);
  std::vector<std::string> names;
  std::map<std::string, int> times;
  for (const SweepSettings& run : runs) {
    std::string name;
    for (const auto& key : keys) {
      for (const auto& [set, value] : run) {
        if (set == key) name += (name.empty() ? "" : "-") + piece(labels[key], value);
      }
    }
    if (name.size() > kLongestName) {
      name = name.substr(0, kLongestName - 8) + "-" + digits_of(everything(run));
    }
    ++times[folded(name)];
    names.push_back(name);
  }
  // Names that the sweep's folder needs itself.
  for (const char* taken : {"logs", "sweep.toml", "base.toml", "runs.json", ""}) ++times[taken];
  for (std::size_t i = 0; i < runs.size(); ++i) {
    if (times[folded(names[i])] > 1) {
      names[i] += (names[i].empty() ? "" : "-") + digits_of(everything(runs[i]));
    }
  }
  return names;
}

}  // namespace fedvg
