#include "config/check.h"

#include <algorithm>
#include <cmath>

#include "config/nearest.h"
#include "config/toml_text.h"

namespace fedvg::config {
namespace {

OptionType element_type(OptionType type) {
  switch (type) {
    case OptionType::integers:
      return OptionType::integer;
    case OptionType::numbers:
      return OptionType::number;
    case OptionType::texts:
      return OptionType::text;
    case OptionType::parts:
      return OptionType::part;
    default:
      return type;
  }
}

std::string with_article(const std::string& noun) {
  const bool vowel = !noun.empty() && std::string_view("aeiou").find(noun[0]) != std::string::npos;
  return (vowel ? "an " : "a ") + noun;
}

std::string wanted_text(const Field& field) {
  switch (field.type) {
    case OptionType::boolean:
      return "true or false";
    case OptionType::integer:
      return "an integer";
    case OptionType::number:
      return "a number";
    case OptionType::text:
      return "a string";
    case OptionType::integers:
      return "a list of integers";
    case OptionType::numbers:
      return "a list of numbers";
    case OptionType::texts:
      return "a list of strings";
    case OptionType::part:
      return with_article(field.part_kind) + ": its name, or {name = …}";
    case OptionType::parts:
      return "a list of " + field.part_kind + " parts: [{name = …}, …]";
  }
  return "";
}

std::optional<Value> with_source(Value value, const Source& source) {
  value.source = source;
  return value;
}

std::string bounds_text(const Bounds& bounds, double value) {
  const std::string text = bounds.text();
  const bool not_finite = !std::isfinite(value) && bounds.finite;
  if (text.empty()) return not_finite ? "must be finite" : "must be a number";
  return (not_finite ? "must be finite and " : "must be ") + text;
}

std::optional<Value> in_bounds(const Field& field, Value number, double value, const Value& given,
                               const std::string& where, Problems& problems) {
  if (field.bounds.contains(value) || number == field.initial) {
    return with_source(std::move(number), given.source);
  }
  problems.add(given.source, where, bounds_text(field.bounds, value) + ", got " + given.text());
  return std::nullopt;
}

std::optional<Value> checked_list(const Field& field, const Array& list, const Source& source,
                                  const std::string& where, Problems& problems) {
  Field element = field;
  element.type = element_type(field.type);
  element.initial = false;  // no element is a default
  Array result;
  for (std::size_t i = 0; i < list.size(); ++i) {
    auto item = checked(element, list[i], where + "[" + std::to_string(i) + "]", problems);
    if (item) result.push_back(std::move(*item));
  }
  if (result.size() != list.size()) return std::nullopt;
  return with_source(std::move(result), source);
}

}  // namespace

std::string type_text(const Field& field) {
  switch (field.type) {
    case OptionType::boolean:
      return "boolean";
    case OptionType::integer:
      return "integer";
    case OptionType::number:
      return "number";
    case OptionType::text:
      return "string";
    case OptionType::integers:
      return "list of integers";
    case OptionType::numbers:
      return "list of numbers";
    case OptionType::texts:
      return "list of strings";
    case OptionType::part:
      return field.part_kind;
    case OptionType::parts:
      return "list of " + field.part_kind;
  }
  return "";
}

std::string wrong_type_text(const Field& field, const Value& got) {
  const std::string shown = shortened(got.text());
  std::string text = "wanted " + wanted_text(field) + ", got " + got.type_name() + " " + shown;
  if (field.type == OptionType::text && !got.get<Array>() && !got.get<Table>()) {
    text += got.source.line > 0 ? "; put quotes around it" : "; write '\"" + shown + "\"'";
  } else if (const double* number = got.get<double>();
             number && field.type == OptionType::integer && std::abs(*number) < 1e15 &&
             *number == std::floor(*number)) {
    text += "; write " + std::to_string(static_cast<std::int64_t>(*number));
  }
  return text;
}

std::optional<Value> checked(const Field& field, const Value& given, const std::string& where,
                             Problems& problems) {
  switch (field.type) {
    case OptionType::boolean:
      if (given.get<bool>()) return given;
      break;
    case OptionType::integer:
      if (const auto* v = given.get<std::int64_t>()) {
        return in_bounds(field, *v, static_cast<double>(*v), given, where, problems);
      }
      break;
    case OptionType::number:
      if (const auto* v = given.get<double>()) {
        return in_bounds(field, *v, *v, given, where, problems);
      }
      if (const auto* v = given.get<std::int64_t>()) {
        const auto number = static_cast<double>(*v);
        return in_bounds(field, number, number, given, where, problems);
      }
      break;
    case OptionType::text:
      if (const auto* v = given.get<std::string>()) {
        const auto& names = field.choices;
        if (names.empty() || given == field.initial ||
            std::find(names.begin(), names.end(), *v) != names.end()) {
          return given;
        }
        problems.add(given.source, where, unknown_text("value", *v, "", names));
        return std::nullopt;
      }
      break;
    case OptionType::integers:
    case OptionType::numbers:
    case OptionType::texts:
      if (given == field.initial) return given;
      if (const auto* list = given.get<Array>()) {
        return checked_list(field, *list, given.source, where, problems);
      }
      break;
    case OptionType::part:
    case OptionType::parts:
      break;  // resolve.h
  }
  problems.add(given.source, where, wrong_type_text(field, given));
  return std::nullopt;
}

}  // namespace fedvg::config
