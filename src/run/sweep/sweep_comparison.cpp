#include "run/sweep/sweep_comparison.h"

#include <optional>
#include <set>
#include <sstream>
#include <vector>

#include "config/toml_file.h"

namespace fedvg {
namespace {

bool varies(const SweepPlan& plan, const std::string& key) {
  std::set<std::string> values;
  for (const PlannedRun& run : plan.runs) {
    for (const auto& [set, value] : run.settings) {
      if (set == key) values.insert(value.text());
    }
  }
  return values.size() > 1;
}

const Value* setting_in(const Table& config, const std::string& key) {
  const Table* table = &config;
  const Value* value = nullptr;
  std::istringstream parts(key);
  for (std::string part; std::getline(parts, part, '.');) {
    value = table ? table->find(part) : nullptr;
    table = value ? value->get<Table>() : nullptr;
  }
  return value;
}

// The key as compare knows it; nothing for a part with options that vary, too.
std::optional<std::string> comparable(const SweepPlan& plan, const std::string& key) {
  if (key == "method.name") return "method";
  const Table config = config::read_toml(plan.runs.front().config, "");
  const Value* value = setting_in(config, key);
  if (!value || !value->get<Table>()) return key;
  for (const PlannedRun& run : plan.runs) {
    for (const auto& [set, given] : run.settings) {
      if (set == key && given.get<Table>()) return std::nullopt;
    }
  }
  return key + ".name";
}

}  // namespace

std::string compare_command(const SweepPlan& plan, const std::filesystem::path& folder) {
  const std::string command = "fedvg compare " + folder.string();
  std::vector<std::string> keys;
  for (const std::string& key : telling_keys(plan.file)) {
    if (key == "seed" || !varies(plan, key)) continue;
    const auto known = comparable(plan, key);
    if (!known) return command;
    keys.push_back(*known);
  }
  if (keys.empty()) return command;
  const std::string columns = keys.size() > 1 ? keys[1] : "";
  std::string rows = keys[0];
  for (std::size_t i = 2; i < keys.size(); ++i) rows += "," + keys[i];
  return command + " --rows " + rows + (columns.empty() ? "" : " --columns " + columns);
}

}  // namespace fedvg
