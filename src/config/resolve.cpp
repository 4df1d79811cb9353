#include "config/resolve.h"

#include <algorithm>

#include "config/check.h"
#include "config/nearest.h"
#include "config/unknown_option.h"
#include "fedvg/registry.h"

namespace fedvg::config {
namespace {

std::string joined(const std::string& where, const std::string& key) {
  return where.empty() ? key : where + "." + key;
}

// A part as given: its name, where that was written, and options not yet checked.
struct GivenPart {
  std::string name;
  Source source;  // of the name; of the whole where there is no name
  Table options;
};

class Resolver {
 public:
  Resolver(const std::vector<Section>* sections, Problems& problems)
      : sections_(sections), problems_(problems) {}

  Table fields(const Schema& schema, const Table& given, Scope scope) {
    check_schema(schema, scope.where.empty() ? "the configuration" : scope.where);
    scope.sections = sections_;
    const Field* beside = nullptr;
    for (const Field& field : schema) {
      scope.candidates.push_back(field.name);
      if (field.beside) beside = &field;
      if (!field.part_kind.empty()) scope.uses.push_back(use_of(field, given.find(field.name)));
    }
    std::vector<std::string> moved;  // keys that belong to the part beside
    Table resolved;
    for (const Field& field : schema) {
      const Value* value = given.find(field.name);
      std::optional<Value> result;
      if (&field == beside) {
        result = part_beside(field, given, value, scope, moved);
      } else if (field.type == OptionType::part) {
        const std::string where = joined(scope.where, field.name);
        result = part(field.part_kind, initial_part(field), value, where, &scope);
      } else if (field.type == OptionType::parts) {
        result = parts(field, value ? *value : field.initial, scope);
      } else {
        result = checked(field, value ? *value : field.initial, joined(scope.where, field.name),
                         problems_);
      }
      if (result) resolved.set(field.name, std::move(*result));
    }
    for (const auto& [key, value] : given.entries()) {
      if (find_field(schema, key)) continue;
      if (std::find(moved.begin(), moved.end(), key) != moved.end()) continue;
      report_unknown(scope, key, value, problems_);
    }
    return resolved;
  }

  std::optional<Value> part(const std::string& kind, const Part& initial, const Value* given,
                            const std::string& where, const Scope* outer) {
    GivenPart written = {initial.name, {}, {}};
    if (given && !take(kind, *given, where, written)) return std::nullopt;
    return named_part(kind, initial, written, where, where, outer);
  }

 private:
  static Use use_of(const Field& field, const Value* given) {
    Use use{field.name, field.part_kind, {}, field.beside};
    if (field.type == OptionType::part) {
      use.chosen.push_back(chosen_part(field, given));
    } else if (const Array* list = (given ? *given : field.initial).get<Array>()) {
      for (const Value& item : *list) use.chosen.push_back(chosen_part(field, &item));
    }
    return use;
  }

  // Splits a part as written. False after a problem.
  bool take(const std::string& kind, const Value& given, const std::string& where,
            GivenPart& written) {
    written.source = given.source;
    if (const auto* name = given.get<std::string>()) {
      written.name = *name;
      return true;
    }
    const Table* table = given.get<Table>();
    Field wanted{.name = where, .type = OptionType::part, .initial = Table(), .part_kind = kind};
    if (!table) {
      problems_.add(given.source, where, wrong_type_text(wanted, given));
      return false;
    }
    for (const auto& [key, value] : table->entries()) {
      if (key != "name") {
        written.options.entries().emplace_back(key, value);
        continue;
      }
      wanted.type = OptionType::text;
      const auto name = checked(wanted, value, joined(where, "name"), problems_);
      if (!name) return false;
      written.name = *name->get<std::string>();
      written.source = value.source;
    }
    return true;
  }

  // `where` is the key that chose the part; its options are reported below `inside`.
  std::optional<Value> named_part(const std::string& kind, const Part& initial,
                                  const GivenPart& written, const std::string& where,
                                  const std::string& inside, const Scope* outer) {
    Value name = written.name;
    name.source = written.source;
    if (!Catalog::instance().find(kind, written.name)) {
      if (written.name.empty() && initial.name.empty() && written.options.empty()) {
        return Value(Table{{"name", name}});
      }
      std::vector<std::string> names;
      for (const PartInfo* info : Catalog::instance().parts(kind)) names.push_back(info->name);
      problems_.add(written.source, where,
                    written.name.empty() ? "lacks the name of a part" + candidates_text("", names)
                                         : unknown_text(kind, written.name, "", names));
      return std::nullopt;
    }
    std::vector<std::string> unknown;
    const Schema schema = part_schema(kind, written.name, initial, &unknown);
    Scope scope{.where = inside, .title = "of " + kind + " " + written.name, .outer = outer};
    scope.uses.push_back({kind, kind, {written.name}, false});
    for (const auto& key : unknown) {
      report_unknown(scope, key, *initial.options.find(key), problems_);
    }
    Table table{{"name", name}};
    Table options = fields(schema, written.options, std::move(scope));
    for (auto& [key, value] : options.entries()) table.set(key, std::move(value));
    Value result = std::move(table);
    result.source = written.source;
    return result;
  }

  // A part whose options stand beside it: collects them, also from the nested form.
  std::optional<Value> part_beside(const Field& field, const Table& given, const Value* value,
                                   const Scope& scope, std::vector<std::string>& moved) {
    const std::string where = joined(scope.where, field.name);
    const Part initial = initial_part(field);
    GivenPart written = {initial.name, {}, {}};
    const bool taken = !value || take(field.part_kind, *value, where, written);
    const PartInfo* info = Catalog::instance().find(field.part_kind, written.name);
    for (const auto& [key, option] : given.entries()) {
      if (key == field.name || !belongs(info, taken, field.part_kind, key)) continue;
      moved.push_back(key);
      if (const Value* nested = written.options.find(key)) {
        problems_.add(option.source, joined(scope.where, key),
                      "given twice, here and inside " + field.name +
                          (nested->source.line > 0 ? " (" + nested->source.text() + ")" : ""));
      } else {
        written.options.set(key, option);
      }
    }
    if (!taken) return std::nullopt;
    return named_part(field.part_kind, initial, written, where, scope.where, &scope);
  }

  // Of an unknown part nothing is known: what any part of its kind has is let through.
  static bool belongs(const PartInfo* info, bool taken, const std::string& kind,
                      const std::string& key) {
    if (info && taken) return find_field(info->schema, key) != nullptr;
    for (const PartInfo* other : Catalog::instance().parts(kind)) {
      if (find_field(other->schema, key)) return true;
    }
    return false;
  }

  std::optional<Value> parts(const Field& field, const Value& given, const Scope& scope) {
    const std::string where = joined(scope.where, field.name);
    const Array* list = given.get<Array>();
    if (!list) {
      problems_.add(given.source, where, wrong_type_text(field, given));
      return std::nullopt;
    }
    Array result;
    for (std::size_t i = 0; i < list->size(); ++i) {
      const std::string place = where + "[" + std::to_string(i) + "]";
      auto item = part(field.part_kind, {}, &(*list)[i], place, &scope);
      if (item) result.push_back(std::move(*item));
    }
    Value resolved = std::move(result);
    resolved.source = given.source;
    return resolved;
  }

  const std::vector<Section>* sections_;
  Problems& problems_;
};

Table flattened_fields(const Schema& schema, const Table& resolved);

Value flattened_part(const std::string& kind, const Value& resolved) {
  const Table* table = resolved.get<Table>();
  const Value* name = table ? table->find("name") : nullptr;
  if (!name || !name->get<std::string>()) return resolved;
  const PartInfo* info = Catalog::instance().find(kind, *name->get<std::string>());
  return info ? flattened_fields(info->schema, *table) : *table;
}

// Keys that the schema does not have, such as `name` of a part, stay as they are.
Table flattened_fields(const Schema& schema, const Table& resolved) {
  Table result;
  for (const auto& [key, value] : resolved.entries()) {
    const Field* field = find_field(schema, key);
    if (field && field->type == OptionType::part) {
      const Value part = flattened_part(field->part_kind, value);
      const Table* table = part.get<Table>();
      if (!field->beside || !table) {
        result.set(key, part);
        continue;
      }
      for (const auto& [option, setting] : table->entries()) {
        result.set(option == "name" ? key : option, setting);
      }
    } else if (field && field->type == OptionType::parts && value.get<Array>()) {
      Array list;
      for (const Value& item : *value.get<Array>()) {
        list.push_back(flattened_part(field->part_kind, item));
      }
      result.set(key, std::move(list));
    } else {
      result.set(key, value);
    }
  }
  return result;
}

void check_sections(const std::vector<Section>& sections) {
  std::vector<std::string> names;
  for (const Section& section : sections) {
    if (std::find(names.begin(), names.end(), section.name) != names.end()) {
      programming_error("section [" + section.name + "] is declared twice");
    }
    names.push_back(section.name);
  }
  const Section* top = find_section(sections, "");
  for (const Field& field : top ? top->schema : Schema{}) {
    if (find_section(sections, field.name)) {
      programming_error("'" + field.name + "' is a section and an option at the top");
    }
  }
}

}  // namespace

Table resolve(const std::vector<Section>& sections, const Table& document, Problems& problems) {
  check_sections(sections);
  Resolver resolver(&sections, problems);
  const auto resolved = [&](const Section& section, const Table& given) {
    Schema schema = section.schema;
    if (section.adapt) section.adapt(schema, given, problems);
    Scope scope{.where = section.name};
    scope.title = section.name.empty() ? "at the top" : "in [" + section.name + "]";
    return resolver.fields(schema, given, std::move(scope));
  };
  Table top_given;
  for (const auto& [key, value] : document.entries()) {
    if (key.empty() || !find_section(sections, key)) top_given.entries().emplace_back(key, value);
  }
  const Section* top = find_section(sections, "");
  Table result = resolved(top ? *top : Section{}, top_given);
  for (const Section& section : sections) {
    if (section.name.empty()) continue;
    const Value* value = document.find(section.name);
    const Table* given = value ? value->get<Table>() : nullptr;
    if (value && !given) {
      problems.add(value->source, section.name,
                   "wanted a section, [" + section.name + "], got " + value->type_name() + " " +
                       value->text());
    }
    Value table = resolved(section, given ? *given : Table());
    if (value) table.source = value->source;
    result.set(section.name, std::move(table));
  }
  return result;
}

Table resolve_fields(const Schema& schema, const Table& given, const std::string& where,
                     Problems& problems) {
  Scope scope{.where = where, .title = where.empty() ? "" : "in [" + where + "]"};
  return Resolver(nullptr, problems).fields(schema, given, std::move(scope));
}

std::optional<Part> resolve_part(const std::string& kind, const Part& initial, const Value* given,
                                 const std::string& where, Problems& problems) {
  Problems found;
  const auto value = Resolver(nullptr, found).part(kind, initial, given, where, nullptr);
  problems.add(found);
  if (!value || !found.empty()) return std::nullopt;
  Part part;
  walk::from_value(*value, part);
  return part;
}

Table flattened(const std::vector<Section>& sections, const Table& resolved) {
  const Section* top = find_section(sections, "");
  const Table flat_top = flattened_fields(top ? top->schema : Schema{}, resolved);
  Table result;
  for (const auto& [key, value] : flat_top.entries()) {
    const Section* section = key.empty() ? nullptr : find_section(sections, key);
    const Table* table = value.get<Table>();
    result.set(key, section && table ? Value(flattened_fields(section->schema, *table)) : value);
  }
  return result;
}

Source source_of(const Table& resolved, std::string_view dotted_key) {
  const Table* table = &resolved;
  while (table) {
    const std::size_t dot = dotted_key.find('.');
    const Value* value = table->find(dotted_key.substr(0, dot));
    if (!value) return {};
    if (dot == std::string_view::npos) return value->source;
    dotted_key.remove_prefix(dot + 1);
    table = value->get<Table>();
  }
  return {};
}

}  // namespace fedvg::config

namespace fedvg {

Part resolved_part(const std::string& kind, const Part& given) {
  config::Problems problems;
  const Value value = walk::to_value(given);
  const auto part = config::resolve_part(kind, {}, &value, kind, problems);
  problems.throw_if_any();
  return *part;
}

}  // namespace fedvg
