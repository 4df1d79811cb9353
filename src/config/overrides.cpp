#include "config/overrides.h"

#include <map>
#include <utility>

#include "config/toml_file.h"
#include "config/toml_text.h"
#include "fedvg/error.h"
#include "fedvg/registry.h"

namespace fedvg::config {
namespace {

using Path = std::vector<std::string>;

Path operator/(Path path, const std::string& key) {
  path.push_back(key);
  return path;
}

std::string dotted(const Path& path) {
  std::string text;
  for (const auto& key : path) text += (text.empty() ? "" : ".") + key;
  return text;
}

std::string_view trimmed(std::string_view text) {
  while (!text.empty() && std::string_view(" \t\r\n").find(text.front()) != text.npos) {
    text.remove_prefix(1);
  }
  while (!text.empty() && std::string_view(" \t\r\n").find(text.back()) != text.npos) {
    text.remove_suffix(1);
  }
  return text;
}

// Throws with `text` in front of the message.
Path key_path(std::string_view key, const std::string& text) {
  Path path;
  while (true) {
    const std::size_t dot = key.find('.');
    path.emplace_back(trimmed(key.substr(0, dot)));
    if (path.back().empty()) throw OptionError(text + ": a key, or a part of it, is empty");
    if (dot == key.npos) return path;
    key.remove_prefix(dot + 1);
  }
}

class Application {
 public:
  Application(const std::vector<Section>& sections, Table& document)
      : sections_(sections), document_(document) {}

  std::vector<std::string> apply(const std::vector<Override>& overrides) {
    for (const Section& section : sections_) spread_out(section);
    const Table before = document_;
    for (const Override& given : overrides) {
      current_ = &given;
      put(given.path, given.value);
    }
    problems_.throw_if_any();
    for (const Section& section : sections_) {
      const Table* old = table_in(before, section.name);
      const bool top = section.name.empty();
      Value* value = top ? nullptr : document_.find(section.name);
      Table* changed = top ? &document_ : value ? value->get<Table>() : nullptr;
      if (!changed) continue;
      section_ = section.name;
      const Table none;
      drop_replaced(adapted(section, old ? *old : none), old ? *old : none,
                    adapted(section, *changed), *changed, top ? Path() : Path{section.name});
    }
    return std::move(notes_);
  }

 private:
  static const Table* table_in(const Table& document, const std::string& section) {
    if (section.empty()) return &document;
    const Value* value = document.find(section);
    return value ? value->get<Table>() : nullptr;
  }

  static Schema adapted(const Section& section, const Table& given) {
    Schema schema = section.schema;
    Problems ignored;  // resolving finds them again
    if (section.adapt) section.adapt(schema, given, ignored);
    return schema;
  }

  static const Field* beside_field(const Section* section) {
    for (const Field& field : section ? section->schema : none_) {
      if (field.beside) return &field;
    }
    return nullptr;
  }

  // scheme = {name = "dirichlet", alpha = 1} in a section becomes what people write:
  // scheme = "dirichlet", alpha = 1. Left alone where that would hide something.
  void spread_out(const Section& section) {
    const Field* field = beside_field(&section);
    Value* value = section.name.empty() ? nullptr : document_.find(section.name);
    Table* table = value ? value->get<Table>() : nullptr;
    const Value* part = field && table ? table->find(field->name) : nullptr;
    if (!part || !part->get<Table>()) return;
    const Table nested = *part->get<Table>();
    for (const auto& [key, option] : nested.entries()) {
      if (key != "name" && table->find(key)) return;
    }
    table->erase(field->name);
    for (const auto& [key, option] : nested.entries()) {
      table->set(key == "name" ? field->name : key, option);
    }
  }

  void fail(const std::string& message) { problems_.add({}, "", current_->text + ": " + message); }

  // Leads an override to where its setting stands in the document.
  void put(const Path& path, const Value& value) {
    const Section* section = find_section(sections_, path[0]);
    const Table* table = value.get<Table>();
    if (section && path.size() == 1) {
      if (!table) return fail(path[0] + " is a section; set one of its options");
      for (const auto& [key, option] : table->entries()) put(path / key, option);
      return;
    }
    const Field* beside = beside_field(section);
    if (!beside || path[1] != beside->name || (path.size() == 2 && !table)) {
      return assign(document_, path, 0, value);
    }
    const auto put_beside = [&](const Path& inside, const Value& option) {
      Path place{path[0]};
      if (inside == Path{"name"})
        place.push_back(beside->name);
      else
        place.insert(place.end(), inside.begin(), inside.end());
      assign(document_, place, 0, option);
    };
    if (path.size() > 2) return put_beside(Path(path.begin() + 2, path.end()), value);
    for (const auto& [key, option] : table->entries()) put_beside({key}, option);
  }

  // May the setting at path[0..depth] be a part? Below the section that is not known.
  bool may_be_part(const Path& path, std::size_t depth) const {
    if (depth != 1) return depth > 1;
    const Section* section = find_section(sections_, path[0]);
    const Field* field = section ? find_field(section->schema, path[1]) : nullptr;
    return field && field->type == OptionType::part;
  }

  void assign(Table& table, const Path& path, std::size_t depth, const Value& value) {
    const std::string& key = path[depth];
    const bool last = depth + 1 == path.size();
    const Path here(path.begin(), path.begin() + static_cast<std::ptrdiff_t>(depth) + 1);
    const Table* merged = last ? value.get<Table>() : nullptr;
    Value* present = table.find(key);
    if (last && !merged) {
      if (present && present->get<Table>() && value.get<std::string>()) {
        present->get<Table>()->set("name", value);
        set_by_[here / "name"] = current_;
      } else {
        table.set(key, value);
        set_by_[here] = current_;
      }
      return;
    }
    if (!present) {
      present = &table.set(key, Table());
      present->source = current_->value.source;
    } else if (present->get<std::string>() && may_be_part(path, depth)) {
      const Value name = *present;
      present->content = Table{{"name", name}};
    }
    Table* inside = present->get<Table>();
    if (inside && !last) return assign(*inside, path, depth + 1, value);
    if (inside) {
      for (const auto& [option, setting] : merged->entries()) {
        assign(*inside, here / option, depth + 1, setting);
      }
    } else if (last) {
      *present = value;
      set_by_[here] = current_;
    } else {
      fail(dotted(here) + " is " + present->type_name() + " " + shortened(present->text()) +
           ", which has no options");
    }
  }

  void drop_replaced(const Schema& old_schema, const Table& old_given, const Schema& schema,
                     Table& given, const Path& path) {
    for (const Field& field : schema) {
      const Field* old_field = find_field(old_schema, field.name);
      if (field.type != OptionType::part || !old_field) continue;
      const Path here = path / field.name;
      Value* value = given.find(field.name);
      const Value* old_value = old_given.find(field.name);
      const std::string name = chosen_part(field, value);
      const std::string old_name = chosen_part(*old_field, old_value);
      Table* inside = field.beside ? &given : value ? value->get<Table>() : nullptr;
      if (!inside) continue;
      if (name != old_name) {
        drop_options(field, old_name, name, *inside, here, field.beside ? path : here);
        if (inside->empty()) given.erase(field.name);
        continue;
      }
      const Table none;
      const Table* old_inside = old_value ? old_value->get<Table>() : nullptr;
      drop_replaced(part_schema(field.part_kind, name, initial_part(*old_field)),
                    field.beside ? old_given
                    : old_inside ? *old_inside
                                 : none,
                    part_schema(field.part_kind, name, initial_part(field)), *inside,
                    field.beside ? path : here);
    }
  }

  void drop_options(const Field& field, const std::string& old_name, const std::string& name,
                    Table& table, const Path& part, const Path& options) {
    const PartInfo* old_info = Catalog::instance().find(field.part_kind, old_name);
    if (!old_info || !Catalog::instance().find(field.part_kind, name)) return;
    std::string dropped;
    for (const Field& option : old_info->schema) {
      if (!drop(table, option.name, options / option.name)) continue;
      dropped += (dropped.empty() ? "" : ", ") + option.name;
    }
    if (dropped.empty()) return;
    notes_.push_back(cause(part) + ": dropped " + dropped + " of " + field.part_kind + " " +
                     old_name);
  }

  // True when something was dropped; what an override set stays.
  bool drop(Table& table, const std::string& key, const Path& path) {
    Value* value = table.find(key);
    if (!value || set_by_.count(path)) return false;
    bool dropped = true;
    if (Table* inside = value->get<Table>()) {
      dropped = inside->empty();
      const Table copy = *inside;
      for (const auto& [option, setting] : copy.entries()) {
        dropped = drop(*inside, option, path / option) || dropped;
      }
      if (!inside->empty()) return dropped;
    }
    table.erase(key);
    return dropped;
  }

  // The override that chose the part, or else the name of a preset: method.name.
  std::string cause(const Path& part) const {
    for (const Path& path : {part, part / "name", Path{section_, "name"}}) {
      if (const auto found = set_by_.find(path); found != set_by_.end()) return found->second->text;
    }
    return current_->text;
  }

  inline static const Schema none_;
  const std::vector<Section>& sections_;
  Table& document_;
  std::map<Path, const Override*> set_by_;
  const Override* current_ = nullptr;
  std::string section_;  // the one whose parts are compared
  Problems problems_;
  std::vector<std::string> notes_;
};

}  // namespace

Override read_override(const std::string& assignment) {
  const std::string text = "--set " + assignment;
  const std::size_t equals = assignment.find('=');
  if (equals == std::string::npos) throw OptionError(text + ": needs the form KEY=VALUE");
  const Source source{"--set", 0};
  if (!read_toml_value(toml_string(assignment), source)) {
    throw OptionError(text + ": not UTF-8");
  }
  const std::string_view given = std::string_view(assignment).substr(equals + 1);
  std::optional<Value> value = read_toml_value(given, source);
  if (!value) {
    const std::string too_large = too_large_integer(given);
    if (!too_large.empty()) {
      throw OptionError(text + ": " + too_large + "; a text of digits needs quotes: '\"…\"'");
    }
    value = std::string(trimmed(given));
    value->source = source;
  }
  return {key_path(assignment.substr(0, equals), text), std::move(*value), text};
}

Override make_override(std::string_view key, Value value) {
  const std::string text = std::string(key) + " = " + value.text();
  return {key_path(key, text), std::move(value), text};
}

std::vector<std::string> apply_overrides(const std::vector<Override>& overrides,
                                         const std::vector<Section>& sections, Table& document) {
  if (overrides.empty()) return {};
  return Application(sections, document).apply(overrides);
}

std::vector<std::string> apply_overrides(const std::vector<std::string>& assignments,
                                         const std::vector<Section>& sections, Table& document) {
  std::vector<Override> overrides;
  Problems problems;
  for (const auto& assignment : assignments) {
    try {
      overrides.push_back(read_override(assignment));
    } catch (const OptionError& e) {
      problems.add({}, "", e.what());
    }
  }
  problems.throw_if_any();
  return apply_overrides(overrides, sections, document);
}

}  // namespace fedvg::config
