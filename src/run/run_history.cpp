#include "run/run_history.h"

#include "config/nearest.h"
#include "config/toml_file.h"
#include "fedvg/error.h"
#include "run/csv.h"

namespace fedvg {
namespace {

// A key of config.toml, "train.rounds"; `wanted` names its type for the message.
template <class T>
T setting(const Table& settings, const std::string& section, const std::string& key,
          const std::string& file, const char* wanted) {
  const Table* table = &settings;
  if (!section.empty()) {
    const Value* value = settings.find(section);
    table = value ? value->get<Table>() : nullptr;
  }
  const Value* value = table ? table->find(key) : nullptr;
  const T* found = value ? value->get<T>() : nullptr;
  if (!found) {
    throw DataError(file + ": not the configuration of a run: " +
                    (section.empty() ? key : section + "." + key) + " is missing or not " + wanted);
  }
  return *found;
}

Table read_settings(const std::filesystem::path& file) {
  if (!std::filesystem::is_regular_file(file)) {
    throw DataError(file.string() + ": missing: not the folder of a run");
  }
  try {
    return config::read_toml_file(file);
  } catch (const OptionError& error) {
    throw DataError(error.what());
  }
}

}  // namespace

RunHistory read_run_history(const std::filesystem::path& folder, const std::string& metric) {
  if (!std::filesystem::is_directory(folder)) throw DataError(folder.string() + ": no such folder");
  RunHistory run;
  run.folder = folder;
  const auto config_file = folder / "config.toml";
  run.settings = read_settings(config_file);
  const std::string where = config_file.string();
  run.seed = setting<std::int64_t>(run.settings, "", "seed", where, "an integer");
  run.rounds = setting<std::int64_t>(run.settings, "train", "rounds", where, "an integer");
  run.method = setting<std::string>(run.settings, "method", "name", where, "a string");

  const auto rounds_file = folder / "rounds.csv";
  const CsvTable table = read_csv(rounds_file);
  const auto round = table.column("round");
  if (!round) throw DataError(rounds_file.string() + ": no column 'round'");
  const auto measured = table.column(metric);
  if (!measured) {
    throw OptionError(
        config::unknown_text("column", metric, "in " + rounds_file.string(), table.columns));
  }
  const auto weight = table.column("weight_max");
  for (const auto& row : table.rows) {
    ++run.finished;
    const std::string line = rounds_file.string() + ":" + std::to_string(run.finished + 1);
    if (row[*round] != std::to_string(run.finished)) {
      throw DataError(line + ": round '" + row[*round] + "' where " + std::to_string(run.finished) +
                      " was due");
    }
    run.metric.push_back(number_in(row[*measured], line));
    if (weight && row[*weight].empty()) ++run.voided;
  }
  return run;
}

}  // namespace fedvg
