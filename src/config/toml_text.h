#pragma once

#include <string>
#include <string_view>

namespace fedvg::config {

/// A basic string with quotes and escapes, on one line. `text` must be UTF-8.
std::string toml_string(std::string_view text);

/// Bare where TOML allows that, else quoted.
std::string toml_key(std::string_view key);

/// Shortest form that reads back as the same double, and as no integer: 1.0, 1e-05, inf, nan.
std::string toml_number(double value);

/// For messages: at most 60 characters of a text, the rest as "…", whole UTF-8 characters.
std::string shortened(std::string_view text);

}  // namespace fedvg::config
