#include "config/listing.h"

#include <algorithm>

#include "config/check.h"
#include "config/nearest.h"
#include "fedvg/error.h"
#include "fedvg/registry.h"

namespace fedvg::config {
namespace {

constexpr std::size_t kColumns = 100;

// UTF-8 characters, each taken as one column.
std::size_t width(std::string_view text) {
  return static_cast<std::size_t>(
      std::count_if(text.begin(), text.end(), [](char c) { return (c & 0xc0) != 0x80; }));
}

// Breaks `text` at spaces; all lines but the first begin at column `indent`, the first
// one is taken to start there.
std::string wrapped(std::string_view text, std::size_t indent) {
  std::string result;
  std::size_t column = indent;
  while (!text.empty()) {
    const std::size_t end = std::min(text.find(' '), text.size());
    const std::string_view word = text.substr(0, end);
    if (column > indent && column + 1 + width(word) > kColumns) {
      result += "\n" + std::string(indent, ' ');
      column = indent;
    } else if (column > indent) {
      result += ' ';
      ++column;
    }
    result += word;
    column += width(word);
    text.remove_prefix(std::min(end + 1, text.size()));
  }
  return result;
}

std::string padded(const std::string& text, std::size_t columns) {
  return text + std::string(columns - std::min(columns, width(text)), ' ');
}

struct Row {
  std::string name;
  std::vector<std::string> lines;
};

std::string rows_text(const std::vector<Row>& rows) {
  std::size_t widest = 0;
  for (const Row& row : rows) widest = std::max(widest, width(row.name));
  const std::size_t indent = 2 + widest + 2;
  std::string text;
  for (const Row& row : rows) {
    std::string start = "  " + padded(row.name, widest) + "  ";
    for (const auto& line : row.lines) {
      if (line.empty()) continue;
      text += start + wrapped(line, indent) + "\n";
      start = std::string(indent, ' ');
    }
  }
  return text;
}

std::string options_text(const Schema& schema) {
  std::vector<Row> rows;
  for (const Field& field : schema) rows.push_back({field.name, {takes_text(field), field.help}});
  return rows.empty() ? "  no options\n" : rows_text(rows);
}

std::string parts_text(const std::string& kind) {
  std::vector<Row> rows;
  for (const PartInfo* info : Catalog::instance().parts(kind)) {
    rows.push_back({info->name, {info->help.empty() ? " " : info->help}});
  }
  return rows_text(rows);
}

std::string section_title(const Section& section) {
  return section.name.empty() ? "above the first section" : "[" + section.name + "]";
}

std::string titled(const std::string& title, const std::string& help, const std::string& body) {
  return (help.empty() ? title : title + ": " + wrapped(help, title.size() + 2)) + "\n" + body;
}

std::string section_text(const Section& section) {
  std::string text = titled(section_title(section), section.help, options_text(section.schema));
  for (const Field& field : section.schema) {
    if (!field.beside) continue;
    text += "  and beside " + field.name + " the options of the chosen " + field.part_kind +
            ": fedvg list " + field.part_kind + " NAME\n";
  }
  return text;
}

std::string everything_text(const std::vector<Section>& sections) {
  std::string text;
  for (const auto& kind : Catalog::instance().kinds())
    text += kind + "\n" + parts_text(kind) + "\n";
  std::vector<Row> rows;
  for (const Section& section : sections) {
    if (section.name.empty()) {
      for (const Field& field : section.schema) rows.push_back({field.name, {field.help}});
    } else {
      rows.push_back({section_title(section), {section.help.empty() ? " " : section.help}});
    }
  }
  text += "sections of a configuration file\n" + rows_text(rows);
  return text + "\nOptions: fedvg list SECTION, fedvg list KIND NAME\n";
}

}  // namespace

std::string takes_text(const Field& field) {
  std::string text = type_text(field);
  if (field.type == OptionType::part) {
    const Part part = initial_part(field);
    text += " (a part), default " + (part.options.empty() ? part.name : field.initial.text());
  } else {
    text += ", default " + field.initial.text();
  }
  std::string names;
  const auto add = [&](const std::string& name) { names += (names.empty() ? "" : " | ") + name; };
  for (const auto& choice : field.choices) add(Value(choice).text());
  for (const PartInfo* info : Catalog::instance().parts(field.part_kind)) add(info->name);
  if (!names.empty()) text += ", one of " + names;
  const std::string bounds = field.bounds.text();
  return bounds.empty() ? text : text + ", " + bounds;
}

std::string list_text(const std::vector<Section>& sections, const std::string& kind,
                      const std::string& name) {
  const Catalog& catalog = Catalog::instance();
  if (kind.empty()) return everything_text(sections);
  const auto parts = catalog.parts(kind);
  if (!name.empty() && !parts.empty()) {
    if (const PartInfo* info = catalog.find(kind, name)) {
      return titled(kind + " " + name, info->help, options_text(info->schema));
    }
    std::vector<std::string> names;
    for (const PartInfo* info : parts) names.push_back(info->name);
    throw OptionError(unknown_text(kind, name, "", names));
  }
  const Section* section = find_section(sections, kind);
  if (section && !name.empty()) {
    for (const Field& field : section->schema) {
      if (field.name == name) return titled(section_title(*section), "", options_text({field}));
    }
    std::vector<std::string> names;
    for (const Field& field : section->schema) names.push_back(field.name);
    throw OptionError(unknown_text("option", name, "in [" + kind + "]", names));
  }
  if (parts.empty() && !section) {
    std::vector<std::string> names = catalog.kinds();
    for (const Section& known : sections) {
      if (!known.name.empty()) names.push_back(known.name);
    }
    throw OptionError(unknown_text("kind or section", kind, "", names));
  }
  std::string text;
  if (!parts.empty()) text += kind + "\n" + parts_text(kind);
  if (section) text += (text.empty() ? "" : "\n") + section_text(*section);
  return text;
}

}  // namespace fedvg::config
