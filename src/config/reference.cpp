// docs/configuration.md, from the same declarations that `fedvg list` prints.

#include <algorithm>

#include "config/check.h"
#include "config/listing.h"
#include "fedvg/registry.h"

namespace fedvg::config {
namespace {

std::string cell(std::string_view text) {
  std::string result;
  for (const char c : text) {
    if (c == '|')
      result += "\\|";
    else
      result += c == '\n' ? ' ' : c;
  }
  return result;
}

std::string code(std::string_view text) { return text.empty() ? "" : "`" + cell(text) + "`"; }

std::string allowed_text(const Field& field) {
  std::string text;
  const auto add = [&](const std::string& name) {
    text += (text.empty() ? "" : ", ") + code(Value(name).text());
  };
  for (const auto& choice : field.choices) add(choice);
  for (const PartInfo* info : Catalog::instance().parts(field.part_kind)) add(info->name);
  return text.empty() ? cell(field.bounds.text()) : text;
}

std::string default_text(const Field& field) {
  if (field.type == OptionType::part) {
    const Part part = initial_part(field);
    if (part.name.empty()) return "";
    if (part.options.empty()) return code(Value(part.name).text());
  }
  return code(field.initial.text());
}

std::string options_table(const Schema& schema) {
  if (schema.empty()) return "No options.\n\n";
  std::string text = "| option | type | default | allowed | |\n|---|---|---|---|---|\n";
  for (const Field& field : schema) {
    text += "| `" + field.name + "` | " + cell(type_text(field)) + " | " + default_text(field) +
            " | " + allowed_text(field) + " | " + cell(field.help) + " |\n";
  }
  return text + "\n";
}

class Reference {
 public:
  std::string text(const std::vector<Section>& sections) {
    text_ =
        "# Configuration\n\n"
        "Generated from the declarations in the code (`fedvg list` prints the same). A part is\n"
        "chosen by its name, `optimizer = \"sgd\"`, or by a table, `optimizer = {name = \"sgd\", "
        "lr = 0.1}`;\nfor some the options stand in the section, beside the name.\n\n";
    for (const Section& section : sections) {
      text_ +=
          section.name.empty() ? "## Above the first section\n\n" : "## [" + section.name + "]\n\n";
      if (!section.help.empty()) text_ += section.help + "\n\n";
      text_ += options_table(section.schema);
      kinds_of(section.schema);
    }
    for (const auto& kind : Catalog::instance().kinds()) describe(kind, "");
    while (text_.ends_with("\n\n")) text_.pop_back();
    return std::move(text_);
  }

 private:
  void kinds_of(const Schema& schema) {
    for (const Field& field : schema) {
      if (field.part_kind.empty()) continue;
      describe(
          field.part_kind,
          field.beside ? "Their options stand in the section, beside `" + field.name + "`." : "");
    }
  }

  // A kind once, then the kinds that its parts are made of.
  void describe(const std::string& kind, const std::string& remark) {
    if (std::find(described_.begin(), described_.end(), kind) != described_.end()) return;
    described_.push_back(kind);
    text_ += "### " + kind + "\n\n";
    if (!remark.empty()) text_ += remark + "\n\n";
    const auto parts = Catalog::instance().parts(kind);
    for (const PartInfo* info : parts) {
      text_ += "#### " + kind + " `" + info->name + "`\n\n";
      if (!info->help.empty()) text_ += info->help + "\n\n";
      text_ += options_table(info->schema);
    }
    for (const PartInfo* info : parts) kinds_of(info->schema);
  }

  std::string text_;
  std::vector<std::string> described_;
};

}  // namespace

std::string reference_markdown(const std::vector<Section>& sections) {
  return Reference().text(sections);
}

}  // namespace fedvg::config
