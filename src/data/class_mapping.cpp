#include "data/class_mapping.h"

#include <algorithm>
#include <cstddef>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <optional>
#include <system_error>

#include "config/nearest.h"
#include "data/choice.h"
#include "data/csv.h"
#include "fedvg/error.h"

namespace fedvg {
namespace {

constexpr std::int64_t kNone = -1;

std::string file_text(const std::string& path) {
  std::error_code ignored;
  const auto status = std::filesystem::status(path, ignored);
  if (std::filesystem::exists(status) && !std::filesystem::is_regular_file(status)) {
    throw DataError(path + ": not a file (validation.mapping)");
  }
  std::ifstream file(path, std::ios::binary);
  std::string text{std::istreambuf_iterator<char>(file), {}};
  if (!file) throw DataError(path + ": cannot be read (validation.mapping)");
  return text;
}

std::optional<std::int64_t> position_of(const std::string& name,
                                        const std::vector<std::string>& names) {
  const auto found = std::ranges::find(names, name);
  if (found == names.end()) return std::nullopt;
  return found - names.begin();
}

class MappingFile {
 public:
  MappingFile(const std::string& path, const std::vector<std::string>& own,
              const std::vector<std::string>& foreign)
      : path_(path), own_(own), foreign_(foreign), mapping_(foreign.size(), kNone) {}

  ClassMapping read() {
    const std::string text = file_text(path_);
    CsvText csv(text, path_);
    for (std::vector<std::string> fields; csv.next(fields);) {
      line_ = csv.line();
      add(fields);
    }
    if (std::ranges::all_of(mapping_, [](std::int64_t own) { return own == kNone; })) {
      throw DataError(path_ + ": gives no foreign class a class of the data set" + form());
    }
    return std::move(mapping_);
  }

 private:
  void add(const std::vector<std::string>& fields) {
    if (fields.size() != 2) {
      refuse("has " + std::to_string(fields.size()) + " columns, wanted two" + form());
    }
    if (!header_seen_) {
      header_seen_ = true;
      if (position_of(fields[0], own_) && position_of(fields[1], foreign_)) {
        refuse("names classes, but the first line must be a header" + form());
      }
      return;
    }
    const auto own = class_of("class of the data set", fields[0], own_);
    const auto foreign = class_of("class of the validation set", fields[1], foreign_);
    if (!own || !foreign) return;
    auto& mapped = mapping_[static_cast<std::size_t>(*foreign)];
    if (mapped != kNone && mapped != *own) {
      refuse("gives '" + fields[1] + "' a second class, '" + fields[0] + "' beside '" +
             own_[static_cast<std::size_t>(mapped)] + "'");
    }
    mapped = *own;
  }

  // Absent for an empty name.
  std::optional<std::int64_t> class_of(const char* what, const std::string& name,
                                       const std::vector<std::string>& names) const {
    if (name.empty()) return std::nullopt;
    const auto position = position_of(name, names);
    if (!position) refuse(config::unknown_text(what, name, "", names));
    return position;
  }

  [[noreturn]] void refuse(const std::string& reason) const {
    throw DataError(path_ + ":" + std::to_string(line_) + ": " + reason);
  }

  static std::string form() {
    return "; a mapping has a header, then in each line a class of the data set and one of the "
           "validation set, by name";
  }

  const std::string& path_;
  const std::vector<std::string>&own_, &foreign_;
  ClassMapping mapping_;
  std::int64_t line_ = 0;
  bool header_seen_ = false;
};

// "beaver, dolphin, otter"; of more than five the first five and an ellipsis.
std::string a_few_of(const std::vector<std::string>& names) {
  std::string text;
  for (std::size_t i = 0; i < std::min<std::size_t>(names.size(), 5); ++i) {
    text += (i ? ", " : "") + names[i];
  }
  return names.size() > 5 ? text + ", …" : text;
}

}  // namespace

ClassMapping read_class_mapping(const std::string& path, const std::vector<std::string>& own,
                                const std::vector<std::string>& foreign) {
  return MappingFile(path, own, foreign).read();
}

ClassMapping classes_of_equal_names(const std::vector<std::string>& own,
                                    const std::vector<std::string>& foreign,
                                    const std::string& path) {
  ClassMapping mapping;
  for (const auto& name : foreign) mapping.push_back(position_of(name, own).value_or(kNone));
  if (std::ranges::all_of(mapping, [](std::int64_t mapped) { return mapped == kNone; })) {
    throw DataError(path + ": none of its classes (" + a_few_of(foreign) +
                    ") has the name of a class of the data set (" + a_few_of(own) +
                    "): name a CSV with validation.mapping that says which belong together");
  }
  return mapping;
}

Samples mapped_samples(const Samples& foreign, const ClassMapping& mapping) {
  IndexList chosen;
  for (std::int64_t i = 0; i < foreign.size(); ++i) {
    const auto label = foreign.labels[static_cast<std::size_t>(i)];
    if (mapping[static_cast<std::size_t>(label)] != kNone) chosen.push_back(i);
  }
  Samples mapped = chosen_samples(foreign, chosen);
  for (auto& label : mapped.labels) label = mapping[static_cast<std::size_t>(label)];
  return mapped;
}

std::string dropped_samples(const Samples& foreign, const ClassMapping& mapping,
                            const std::vector<std::string>& foreign_classes) {
  std::vector<bool> seen(mapping.size());
  std::vector<std::string> names;
  std::int64_t dropped = 0;
  for (const std::int64_t label : foreign.labels) {
    const auto at = static_cast<std::size_t>(label);
    if (mapping[at] != kNone) continue;
    ++dropped;
    if (!seen[at]) names.push_back(foreign_classes[at]);
    seen[at] = true;
  }
  if (dropped == 0) return "";
  return std::to_string(dropped) + " of " + std::to_string(foreign.size()) +
         " samples dropped: " + std::to_string(names.size()) +
         (names.size() == 1 ? " class has" : " classes have") + " no counterpart (" +
         a_few_of(names) + ")";
}

}  // namespace fedvg
