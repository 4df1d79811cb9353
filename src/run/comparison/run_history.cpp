#include "run/comparison/run_history.h"

#include "config/toml_file.h"
#include "fedvg/error.h"
#include "run/run_end.h"

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

// Lines that are the rounds 1, 2, 3, …
void count_rounds(RunHistory& run, const std::string& file) {
  const auto round = run.table.column("round");
  if (!round) throw DataError(file + ": no column 'round'");
  const auto weight = run.table.column("weight_max");
  for (const auto& row : run.table.rows) {
    ++run.finished;
    if (row[*round] != std::to_string(run.finished)) {
      throw DataError(file + ":" + std::to_string(run.finished + 1) + ": round '" + row[*round] +
                      "' where " + std::to_string(run.finished) + " was due");
    }
    if (weight && row[*weight].empty()) ++run.voided;
  }
}

// By run.json where there is one: a run that stopped early has fewer rounds than configured.
void settle_completeness(RunHistory& run) {
  const auto end = read_run_end(run.folder);
  if (!end) {
    run.complete = run.finished == run.rounds && !std::filesystem::exists(run_end_file(run.folder));
    return;
  }
  if (run.finished < end->rounds) {
    throw DataError(run_end_file(run.folder).string() + ": it says " + std::to_string(end->rounds) +
                    " rounds, but rounds.csv has " + std::to_string(run.finished));
  }
  // Rounds that were added later are not in it yet.
  run.stopped_early = end->early && run.finished == end->rounds;
  run.complete = run.stopped_early || run.finished == run.rounds;
}

}  // namespace

std::optional<std::vector<std::optional<double>>> RunHistory::column(
    const std::string& name) const {
  const auto at = table.column(name);
  if (!at) return std::nullopt;
  std::vector<std::optional<double>> numbers;
  for (std::size_t i = 0; i < table.rows.size(); ++i) {
    numbers.push_back(number_in(table.rows[i][*at], (folder / "rounds.csv").string() + ":" +
                                                        std::to_string(i + 2) + ", " + name));
  }
  return numbers;
}

RunHistory read_run_history(const std::filesystem::path& folder) {
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
  run.table = read_csv(rounds_file);
  count_rounds(run, rounds_file.string());
  settle_completeness(run);
  return run;
}

}  // namespace fedvg
