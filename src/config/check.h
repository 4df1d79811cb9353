#pragma once

#include <optional>
#include <string>

#include "config/problems.h"
#include "fedvg/options.h"

namespace fedvg::config {

/// "integer", "list of numbers", for a part its kind: for listings.
std::string type_text(const Field& field);

/// "wanted an integer, got string "ten"", with advice where a common slip is seen.
std::string wrong_type_text(const Field& field, const Value& got);

/// A setting that is no part, checked for type, bounds and choices; its form is that of
/// the type (an integer given for a number becomes one) and its source the given one.
/// The default is always accepted. Nothing after adding to `problems`.
std::optional<Value> checked(const Field& field, const Value& given, const std::string& where,
                             Problems& problems);

}  // namespace fedvg::config
