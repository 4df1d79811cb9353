#include "config/schema.h"

#include <cstdio>
#include <cstdlib>
#include <set>

#include "fedvg/registry.h"

namespace fedvg::config {
namespace {

void override_default(Field& field, const Value& value) {
  if (field.type == OptionType::number && value.get<std::int64_t>()) {
    field.initial = static_cast<double>(*value.get<std::int64_t>());
  } else if (field.type == OptionType::part) {
    Table part = *field.initial.get<Table>();
    if (chosen_part(field, &value) != initial_part(field).name) part = {};
    if (const auto* name = value.get<std::string>()) part.set("name", *name);
    if (const auto* table = value.get<Table>()) {
      for (const auto& [key, option] : table->entries()) part.set(key, option);
    }
    field.initial = std::move(part);
  } else {
    field.initial = value;
  }
}

}  // namespace

const Field* find_field(const Schema& schema, std::string_view name) {
  for (const Field& field : schema) {
    if (field.name == name) return &field;
  }
  return nullptr;
}

Field* find_field(Schema& schema, std::string_view name) {
  return const_cast<Field*>(find_field(std::as_const(schema), name));
}

void set_default(Schema& fields, std::string_view name, Value value) {
  Field* field = find_field(fields, name);
  if (!field) programming_error("there is no option '" + std::string(name) + "' to give a default");
  override_default(*field, value);
}

void set_default(Schema& fields, std::string_view name, const Part& part) {
  set_default(fields, name, walk::to_value(part));
}

std::string chosen_part(const Field& field, const Value* given) {
  if (given) {
    if (const auto* name = given->get<std::string>()) return *name;
    if (const auto* table = given->get<Table>()) {
      const Value* name = table->find("name");
      if (name && name->get<std::string>()) return *name->get<std::string>();
    }
  }
  return initial_part(field).name;
}

Part initial_part(const Field& field) {
  Part part;
  if (field.type == OptionType::part) walk::from_value(field.initial, part);
  return part;
}

Schema part_schema(const std::string& kind, const std::string& name, const Part& initial,
                   std::vector<std::string>* unknown) {
  const PartInfo* info = Catalog::instance().find(kind, name);
  if (!info) return {};
  Schema schema = info->schema;
  if (name != initial.name) return schema;
  for (const auto& [key, value] : initial.options.entries()) {
    if (Field* field = find_field(schema, key))
      override_default(*field, value);
    else if (unknown)
      unknown->push_back(key);
  }
  return schema;
}

void programming_error(const std::string& message) {
  std::fprintf(stderr, "fedvg: programming error: %s\n", message.c_str());
  std::abort();
}

void check_schema(const Schema& schema, const std::string& where) {
  std::set<std::string> names;
  const Field* beside = nullptr;
  for (const Field& field : schema) {
    if (!names.insert(field.name).second) {
      programming_error("option '" + field.name + "' of " + where + " is declared twice");
    }
    if (!field.beside) continue;
    if (beside) programming_error(where + " has two options whose parts stand beside them");
    beside = &field;
  }
  if (!beside) return;
  for (const PartInfo* info : Catalog::instance().parts(beside->part_kind)) {
    for (const Field& option : info->schema) {
      if (!names.count(option.name)) continue;
      programming_error("option '" + option.name + "' is declared by " + where + " and by " +
                        beside->part_kind + " " + info->name + " (" + info->file +
                        "), which stands in it");
    }
  }
}

}  // namespace fedvg::config
