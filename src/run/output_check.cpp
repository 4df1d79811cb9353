#include "run/output_check.h"

#include <system_error>

#include "fedvg/error.h"
#include "fedvg/options.h"
#include "fedvg/registry.h"

namespace fedvg {
namespace {

namespace fs = std::filesystem;

// `place` is "partition."; the options of a PartBeside part stand in the section themselves.
void collect(const Schema& schema, const Table& table, const std::string& place,
             std::vector<InputPath>& inputs) {
  for (const Field& field : schema) {
    const Value* value = table.find(field.name);
    if (!value) continue;
    if (field.is_path) {
      const auto& path = *value->get<std::string>();
      if (!path.empty()) inputs.push_back({place + field.name, path});
    } else if (const Table* part = value->get<Table>()) {
      const PartInfo* info =
          Catalog::instance().find(field.part_kind, *part->find("name")->get<std::string>());
      if (!info) continue;
      collect(info->schema, *part, field.beside ? place : place + field.name + ".", inputs);
    }
  }
}

bool same(const fs::path& a, const fs::path& b) {
  std::error_code error;
  return fs::equivalent(a, b, error) && !error;
}

bool lies_in(const fs::path& file, const fs::path& folder) {
  std::error_code error;
  for (fs::path above = fs::canonical(file, error); above.has_relative_path();) {
    above = above.parent_path();
    if (same(above, folder)) return true;
  }
  return false;
}

}  // namespace

std::vector<InputPath> input_paths(const Configuration& configuration) {
  std::vector<InputPath> inputs;
  for (const config::Section& section : sections()) {
    if (section.name.empty()) {
      collect(section.schema, configuration.resolved, "", inputs);
    } else if (const Value* value = configuration.resolved.find(section.name)) {
      collect(section.schema, *value->get<Table>(), section.name + ".", inputs);
    }
  }
  return inputs;
}

void check_output(const std::string& option, const fs::path& output,
                  const std::vector<InputPath>& inputs) {
  const std::string given = option + " " + output.string();
  if (output.empty()) throw OptionError(option + ": wanted the name of a file, got nothing");
  std::error_code error;
  if (fs::is_directory(output, error)) {
    throw OptionError(given + ": this is a folder; name a file in it");
  }
  const std::string another = "; name another file, nothing was written";
  for (const InputPath& input : inputs) {
    if (same(output, input.path)) {
      throw OptionError(given + ": this is the file that is read as " + input.name + another);
    }
    const bool ours = output.extension() == ".json" || output.extension() == ".csv";
    if (ours || !fs::is_regular_file(output, error) || !fs::is_directory(input.path, error)) {
      continue;
    }
    if (lies_in(output, input.path)) {
      throw OptionError(given + ": this is a file of the folder that is read as " + input.name +
                        another);
    }
  }
}

}  // namespace fedvg
