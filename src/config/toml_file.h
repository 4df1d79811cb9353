#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <string_view>

#include "fedvg/value.h"

namespace fedvg::config {

/// Reads a TOML file; every value knows its file (as given) and line. Throws
/// OptionError: missing or unreadable, not TOML, a key twice, a date or time, larger than
/// 1 MiB, nested deeper than 32 levels. Entries keep the order of the file.
Table read_toml_file(const std::filesystem::path& path);

/// The same from text; `name` stands for the file in sources and messages.
Table read_toml(std::string_view text, const std::string& name);

/// One value as it may stand behind `key =`. Nothing when it is not TOML, or a date, or an integer
/// in it is too large.
std::optional<Value> read_toml_value(std::string_view text, const Source& source);

/// What is wrong with a value in which an integer is too large; empty: none is.
std::string too_large_integer(std::string_view text);

/// Gives a value, and everything in it, another source.
void set_source(Value& value, const Source& source);

/// A document: settings first, then every table as a [section] with one line for each
/// of its keys, deeper tables inline. Read again it is equal. Strings must be UTF-8.
std::string write_toml(const Table& document);

}  // namespace fedvg::config
