#include <algorithm>
#include <memory>

#include "commands.h"
#include "config/listing.h"
#include "config/nearest.h"
#include "fedvg/error.h"
#include "fedvg/method.h"
#include "fedvg/registry.h"
#include "run/console.h"
#include "run/setup_block.h"

namespace fedvg {
namespace {

struct ListArguments {
  std::string kind, name;
  bool markdown = false;
};

std::string parts_text(const Method& method) {
  return method.correction.name + " × " + method.weighting.name + " × " + method.server.name;
}

// The methods by name, which are combinations of parts rather than parts themselves.
std::string methods_text() {
  std::size_t width = 0;
  for (const MethodRow* row : method_rows()) width = std::max(width, row->parts.name.size());
  std::string text = "methods: correction × weighting × server optimizer\n";
  for (const MethodRow* row : method_rows()) {
    const std::string& name = row->parts.name;
    text += "  " + name + std::string(width - name.size() + 2, ' ') + parts_text(row->parts) +
            ": " + row->help + "\n";
  }
  return text + "  X+fedvg: method X with the weights of fedvg (fedavg+fedvg: their mean)\n";
}

std::string method_text(const std::string& name) {
  const Method method = compose_method(name);
  const auto part = [](const char* kind, const Part& chosen) {
    std::string line = std::string("  ") + kind + " " + chosen.name;
    if (!chosen.options.empty()) line += " with " + Value(chosen.options).text();
    return line + ": fedvg list " + kind + " " + chosen.name + "\n";
  };
  return "method " + method.name + " = " + parts_text(method) + "\n" +
         part("correction", method.correction) + part("weighting", method.weighting) +
         part("server-optimizer", method.server) + part("combiner", method.combiner);
}

// "methods" and "corrections" are what people type first.
std::string singular(const std::string& kind) {
  const bool plural = kind.size() > 1 && kind.ends_with('s');
  const std::string one = plural ? kind.substr(0, kind.size() - 1) : kind;
  const auto kinds = Catalog::instance().kinds();
  const bool known = one == "method" || std::find(kinds.begin(), kinds.end(), one) != kinds.end();
  return known ? one : kind;
}

std::string list_text(const ListArguments& arguments) {
  if (arguments.markdown) return config::reference_markdown(sections());
  const std::string kind = singular(arguments.kind);
  if (kind.empty()) return methods_text() + "\n" + config::list_text(sections());
  if (kind != "method") return config::list_text(sections(), kind, arguments.name);
  if (arguments.name.empty()) return methods_text() + "\n" + config::list_text(sections(), kind);
  const auto section = config::find_section(sections(), "method");
  const bool option = config::find_field(section->schema, arguments.name) != nullptr;
  return option ? config::list_text(sections(), kind, arguments.name) : method_text(arguments.name);
}

}  // namespace

void add_list_command(CLI::App& program) {
  auto& command = *program.add_subcommand(
      "list", "methods, their parts, data sets, partitions, models: options and defaults");
  const auto arguments = std::make_shared<ListArguments>();
  command.add_option("KIND", arguments->kind, "a kind of part, or a section; none: all")
      ->type_name("");
  command.add_option("NAME", arguments->name, "one of them, or one option of a section")
      ->type_name("");
  command.add_flag("--markdown", arguments->markdown,
                   "the whole reference as Markdown: docs/configuration.md");
  command.footer("Example:\n  fedvg list weighting fedvg\n  fedvg list train");
  command.callback([arguments] {
    if (arguments->markdown && !arguments->kind.empty()) {
      throw OptionError("--markdown: the reference is whole, it takes no KIND");
    }
    std::string text = list_text(*arguments);
    text.pop_back();  // the console ends the line
    Console().print(text);
  });
}

}  // namespace fedvg
