#include "config/unknown_option.h"

#include <algorithm>

#include "config/nearest.h"
#include "fedvg/registry.h"

namespace fedvg::config {
namespace {

bool contains(const std::vector<std::string>& names, const std::string& name) {
  return std::find(names.begin(), names.end(), name) != names.end();
}

std::string list_text(const std::vector<std::string>& names, const std::string& last) {
  std::string text;
  for (std::size_t i = 0; i < names.size(); ++i) {
    if (i > 0) text += i + 1 == names.size() ? " " + last + " " : ", ";
    text += names[i];
  }
  return text;
}

// The parts of a kind that have such an option.
std::vector<std::string> owners(const std::string& kind, const std::string& key) {
  std::vector<std::string> names;
  for (const PartInfo* info : Catalog::instance().parts(kind)) {
    if (find_field(info->schema, key)) names.push_back(info->name);
  }
  return names;
}

// Empty when no part of `scope` has such an option.
std::string part_text(const Scope& scope, const std::string& key) {
  std::string not_in_use;
  for (const Use& use : scope.uses) {
    const auto names = owners(use.kind, key);
    if (names.empty()) continue;
    for (const auto& name : names) {
      if (!contains(use.chosen, name)) continue;
      const std::string belongs = key + " belongs to " + use.kind + " " + name;
      if (use.beside) return belongs + ", whose options stand beside " + use.option;
      return belongs + " and must stand in it: " + use.option + " = {" + key + " = …}";
    }
    if (!not_in_use.empty()) continue;
    not_in_use =
        key + " belongs to " + use.kind + " " + list_text(names, "or") + ", which is not in use";
    const auto& chosen = use.chosen;
    if (!chosen.empty()) not_in_use += " (" + use.option + " is " + list_text(chosen, "and") + ")";
  }
  return not_in_use;
}

// "([train] has one)": where in other sections such an option stands. May be empty.
std::string elsewhere_text(const Scope& scope, const std::string& key) {
  if (!scope.sections) return "";
  for (const Section& section : *scope.sections) {
    if (find_field(section.schema, key)) {
      return section.name.empty() ? "(there is one of that name above the first section)"
                                  : "([" + section.name + "] has one of that name)";
    }
  }
  for (const Section& section : *scope.sections) {
    for (const Field& field : section.schema) {
      const auto names = owners(field.part_kind, key);
      if (names.empty()) continue;
      return "(" + field.part_kind + " " + names[0] + " in [" + section.name +
             "] has one of that name)";
    }
  }
  return "";
}

}  // namespace

void report_unknown(const Scope& scope, const std::string& key, const Value& value,
                    Problems& problems) {
  if (problems.full()) {
    problems.add(value.source, "", "unknown option");
    return;
  }
  for (const Scope* s = &scope; s; s = s->outer) {
    const std::string text = part_text(*s, key);
    if (text.empty()) continue;
    problems.add(value.source, scope.where.empty() ? key : scope.where + "." + key, text);
    return;
  }
  const bool at_top = scope.sections && scope.where.empty();
  std::vector<std::string> candidates = scope.candidates;
  for (const Use& use : scope.uses) {
    if (!use.beside || use.chosen.empty()) continue;
    const PartInfo* info = Catalog::instance().find(use.kind, use.chosen[0]);
    for (const Field& field : info ? info->schema : Schema{}) candidates.push_back(field.name);
  }
  if (at_top) {
    for (const Section& section : *scope.sections) {
      if (!section.name.empty()) candidates.push_back(section.name);
    }
  }
  const bool section = at_top && value.get<Table>();
  const std::string place = (section ? "" : scope.title + " ") + elsewhere_text(scope, key);
  problems.add(value.source, "",
               unknown_text(section ? "section" : "option", key, place, candidates));
}

}  // namespace fedvg::config
