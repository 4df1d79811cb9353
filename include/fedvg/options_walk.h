#pragma once

// The two walks over `describe`: options struct -> Schema, and resolved Table -> struct.
// Include fedvg/options.h instead.

#include <type_traits>

#include "fedvg/options.h"

namespace fedvg {
namespace walk {

inline Value to_value(bool v) { return v; }
inline Value to_value(std::int64_t v) { return v; }
inline Value to_value(double v) { return v; }
inline Value to_value(const std::string& v) { return v; }
inline Value to_value(const Part& part) {
  Table table;
  table.set("name", part.name);
  for (const auto& [key, value] : part.options.entries()) table.set(key, value);
  return table;
}
template <class T>
Value to_value(const std::vector<T>& list) {
  Array array;
  for (const auto& item : list) array.push_back(to_value(item));
  return array;
}

inline void from_value(const Value& v, bool& out) { out = *v.get<bool>(); }
inline void from_value(const Value& v, std::int64_t& out) { out = *v.get<std::int64_t>(); }
inline void from_value(const Value& v, double& out) {
  const auto* whole = v.get<std::int64_t>();
  out = whole ? static_cast<double>(*whole) : *v.get<double>();
}
inline void from_value(const Value& v, std::string& out) { out = *v.get<std::string>(); }
inline void from_value(const Value& v, Part& out) {
  out = {};
  for (const auto& [key, value] : v.get<Table>()->entries()) {
    if (key == "name")
      out.name = *value.get<std::string>();
    else
      out.options.set(key, value);
  }
}
template <class T>
void from_value(const Value& v, std::vector<T>& out) {
  out.clear();
  for (const auto& item : *v.get<Array>()) from_value(item, out.emplace_back());
}

template <class T>
struct TypeOf;
template <>
struct TypeOf<bool> {
  static constexpr auto value = OptionType::boolean;
};
template <>
struct TypeOf<std::int64_t> {
  static constexpr auto value = OptionType::integer;
};
template <>
struct TypeOf<double> {
  static constexpr auto value = OptionType::number;
};
template <>
struct TypeOf<std::string> {
  static constexpr auto value = OptionType::text;
};
template <>
struct TypeOf<std::vector<std::int64_t>> {
  static constexpr auto value = OptionType::integers;
};
template <>
struct TypeOf<std::vector<double>> {
  static constexpr auto value = OptionType::numbers;
};
template <>
struct TypeOf<std::vector<std::string>> {
  static constexpr auto value = OptionType::texts;
};
template <>
struct TypeOf<Part> {
  static constexpr auto value = OptionType::part;
};
template <>
struct TypeOf<std::vector<Part>> {
  static constexpr auto value = OptionType::parts;
};

template <class Options>
struct SchemaVisitor {
  Schema fields;
  Options defaults{};

  template <class T>
  Field& add(const char* name, T Options::*member, std::string_view help) {
    fields.push_back(Field{.name = name,
                           .type = TypeOf<T>::value,
                           .initial = to_value(defaults.*member),
                           .help = std::string(help)});
    return fields.back();
  }
  template <class T>
  void operator()(const char* name, T Options::*member, std::string_view help) {
    add(name, member, help);
  }
  template <class T>
  void operator()(const char* name, T Options::*member, Bounds bounds, std::string_view help) {
    static_assert(std::is_arithmetic_v<T> || std::is_same_v<T, std::vector<double>> ||
                  std::is_same_v<T, std::vector<std::int64_t>>);
    add(name, member, help).bounds = bounds;
  }
  template <class T>
  void operator()(const char* name, T Options::*member, OneOf choices, std::string_view help) {
    add(name, member, help).choices = std::move(choices.names);
  }
  void operator()(const char* name, std::string Options::*member, FilePath, std::string_view help) {
    add(name, member, help).is_path = true;
  }
  template <class T>
  void operator()(const char* name, T Options::*member, PartOf kind, std::string_view help) {
    add(name, member, help).part_kind = std::move(kind.kind);
  }
  void operator()(const char* name, Part Options::*member, PartBeside kind, std::string_view help) {
    Field& field = add(name, member, help);
    field.part_kind = std::move(kind.kind);
    field.beside = true;
  }
};

template <class Options>
struct ReadVisitor {
  const Table& table;
  Options options{};

  template <class T>
  void operator()(const char* name, T Options::*member, std::string_view) {
    if (const Value* value = table.find(name)) from_value(*value, options.*member);
  }
  template <class T, class Constraint>
  void operator()(const char* name, T Options::*member, Constraint, std::string_view help) {
    (*this)(name, member, help);
  }
};

}  // namespace walk

/// Every option of a struct, with its default, in the order of `describe`.
template <Described Options>
Schema schema_of() {
  walk::SchemaVisitor<Options> visitor;
  Options::describe(visitor);
  return std::move(visitor.fields);
}

/// The struct of a table that has been resolved against schema_of<Options>(); see
/// config/resolve.h. In a resolved table a PartBeside choice is nested like a PartOf:
/// `scheme = {name = "dirichlet", alpha = 0.1}`.
template <Described Options>
Options read(const Table& resolved) {
  walk::ReadVisitor<Options> visitor{resolved};
  Options::describe(visitor);
  return std::move(visitor.options);
}

}  // namespace fedvg
