#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "fedvg/options.h"

namespace fedvg::config {

/// Null when there is none.
const Field* find_field(const Schema& schema, std::string_view name);
Field* find_field(Schema& schema, std::string_view name);

/// Replaces the default of a field. A part given with options takes these as the
/// defaults of its own. A field that is not there is a programming error: aborts.
void set_default(Schema& fields, std::string_view name, Value value);
void set_default(Schema& fields, std::string_view name, const Part& part);

/// The name that a part option stands for: the given one, where there is one (a string,
/// or `name` of a table), else the default's.
std::string chosen_part(const Field& field, const Value* given);

/// The options of a part with those defaults that `initial` overrides: what
/// `initial.options` says holds as long as the part `initial.name` is the chosen one.
/// Empty when there is no such part. `unknown` gets keys of initial.options that the
/// part lacks.
Schema part_schema(const std::string& kind, const std::string& name, const Part& initial,
                   std::vector<std::string>* unknown = nullptr);

/// The default of a part option.
Part initial_part(const Field& field);

/// Says on stderr what a developer did wrong, and aborts.
[[noreturn]] void programming_error(const std::string& message);

/// Aborts when a schema cannot be meant: two options of one name, two PartBeside
/// options, or one whose parts have options of the names that stand beside it.
void check_schema(const Schema& schema, const std::string& where);

}  // namespace fedvg::config
