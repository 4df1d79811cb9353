#pragma once

#include <functional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "config/problems.h"
#include "config/schema.h"
#include "fedvg/options.h"

namespace fedvg::config {

/// One [section] of a configuration file.
struct Section {
  std::string name;  ///< empty: the keys above the first section
  std::string help;  ///< one line
  Schema schema;

  /// Changes what depends on the given settings before they are checked, such as the
  /// parts that a method's name stands for: set_default(fields, "correction", …).
  /// `given` is the section as written, not checked: nothing in it can be relied on.
  /// Must give the same for a section that has been resolved and written. May be empty.
  std::function<void(Schema& fields, const Table& given, Problems& problems)> adapt = {};
};

template <Described Options>
Section section_of(std::string name, std::string help,
                   std::function<void(Schema&, const Table&, Problems&)> adapt = {}) {
  return {std::move(name), std::move(help), schema_of<Options>(), std::move(adapt)};
}

/// Null when there is none.
inline const Section* find_section(const std::vector<Section>& sections, std::string_view name) {
  for (const Section& section : sections) {
    if (section.name == name) return &section;
  }
  return nullptr;
}

}  // namespace fedvg::config
