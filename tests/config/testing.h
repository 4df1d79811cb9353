#pragma once

#include <string>
#include <vector>

#include "config/section.h"
#include "fedvg/registry.h"

// A small federation of fake parts, and sections that use them.
namespace fedvg::config {

struct FakeWeighting {
  static constexpr const char* kind = "weighting";
  virtual ~FakeWeighting() = default;
  virtual std::string text() const = 0;
};

/// seed; [partition] scheme beside; [train] with an option of every type; [method] whose
/// name changes the default parts, as in `fedprox` or `fedvg`.
const std::vector<Section>& sections();

/// Read from "a.toml", with the arguments of --set, and resolved. Throws OptionError.
Table resolved(const std::string& toml, const std::vector<std::string>& set = {});

/// What resolved() throws: one message each, empty when nothing is wrong.
std::vector<std::string> problems(const std::string& toml,
                                  const std::vector<std::string>& set = {});

/// The value at a dotted key of a resolved table, as TOML text; "" when not there.
std::string at(const Table& table, const std::string& dotted_key);

}  // namespace fedvg::config
