#include "run/sweep/sweep_plan.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <nlohmann/json.hpp>

#include "config/toml_file.h"
#include "config/toml_text.h"
#include "data/wording.h"
#include "fedvg/error.h"
#include "run/configuration.h"
#include "run/whole_file.h"

namespace fedvg {
namespace {

namespace fs = std::filesystem;

// Messages of many runs, each once, in the order in which they came up.
class Messages {
 public:
  void add(const std::string& text, const std::string& run) {
    const auto [entry, added] = places_.try_emplace(text, entries_.size());
    if (added) entries_.push_back({text, run, 0});
    ++entries_[entry->second].runs;
  }
  bool empty() const { return entries_.empty(); }

  // What does not concern all runs says which.
  std::vector<std::string> texts(std::size_t all) const {
    std::vector<std::string> texts;
    for (const Entry& entry : entries_) {
      std::string text = entry.text;
      if (entry.runs == 1 && all > 1) {
        text += " (run " + entry.first + ")";
      } else if (entry.runs < all) {
        text += " (" + std::to_string(entry.runs) + " of " + std::to_string(all) +
                " runs, the first " + entry.first + ")";
      }
      texts.push_back(text);
    }
    return texts;
  }

 private:
  struct Entry {
    std::string text, first;
    std::size_t runs;
  };
  std::map<std::string, std::size_t> places_;
  std::vector<Entry> entries_;
};

// In the order of the plan: the last key changes fastest.
std::vector<SweepSettings> combinations(const SweepFile& file) {
  std::vector<SweepSettings> runs(1);
  const auto times = [&](std::size_t count, const auto& extend) {
    std::vector<SweepSettings> longer;
    for (const SweepSettings& run : runs) {
      for (std::size_t i = 0; i < count; ++i) extend(longer.emplace_back(run), i);
    }
    runs = std::move(longer);
  };
  const auto along = [&](const SweepAxis& axis) {
    times(axis.values.size(),
          [&](SweepSettings& run, std::size_t i) { run.emplace_back(axis.key, axis.values[i]); });
  };
  for (const SweepAxis& axis : file.grid) along(axis);
  times(file.rows(), [&](SweepSettings& run, std::size_t i) {
    for (const SweepAxis& axis : file.zip) run.emplace_back(axis.key, axis.values[i]);
  });
  if (!file.seeds.values.empty()) along(file.seeds);
  return runs;
}

// Of [zip] as many lists as tell its rows apart.
std::vector<std::string> telling_zip_keys(const SweepFile& file) {
  std::vector<std::string> keys, rows(file.rows());
  for (const SweepAxis& axis : file.zip) {
    keys.push_back(axis.key);
    for (std::size_t i = 0; i < rows.size(); ++i) rows[i] += axis.values[i].text() + "\n";
    auto sorted = rows;
    std::sort(sorted.begin(), sorted.end());
    if (std::adjacent_find(sorted.begin(), sorted.end()) == sorted.end()) break;
  }
  return keys;
}

std::string dotted(const std::vector<std::string>& path) {
  std::string text;
  for (const auto& key : path) text += (text.empty() ? "" : ".") + key;
  return text;
}

// One of both lies inside the other.
bool overlap(const std::string& a, const std::string& b) {
  return a == b || a.starts_with(b + ".") || b.starts_with(a + ".");
}

void check_changes(const SweepFile& file, const std::vector<config::Override>& changes) {
  std::vector<std::string> problems;
  for (const config::Override& change : changes) {
    for (const SweepAxis* axis : file.axes()) {
      if (!overlap(dotted(change.path), axis->key)) continue;
      problems.push_back(change.text + ": the sweep varies " + axis->key + " (" +
                         axis->source.text() + "), and this would be the same in all runs");
    }
  }
  if (!problems.empty()) throw OptionError(problems);
}

std::vector<config::Override> overrides_of(const std::vector<config::Override>& changes,
                                           const SweepSettings& settings) {
  std::vector<config::Override> overrides = changes;
  for (const auto& [key, value] : settings) {
    overrides.push_back(config::make_override(key, value));
  }
  return overrides;
}

class Planning {
 public:
  explicit Planning(SweepPlan& plan) : plan_(plan) {}

  void add(const std::string& name, const SweepSettings& settings) {
    try {
      const Configuration configuration = load_configuration_text(
          plan_.base, plan_.file.base.string(), overrides_of(plan_.changes, settings));
      for (const auto& note : configuration.notes) notes_.add(note, name);
      plan_.runs.push_back({.name = name,
                            .settings = settings,
                            .config = configuration.text(),
                            .rounds = configuration.train.rounds,
                            .workers = configuration.engine.workers,
                            .threads = configuration.engine.threads});
      const auto [same, added] = by_config_.try_emplace(plan_.runs.back().config, name);
      if (!added) {
        problems_.add(placed("two runs would be the same: " + same->second + " and " + name + ", " +
                             settings_text(settings)),
                      name);
      }
    } catch (const OptionError& error) {
      for (const auto& problem : error.problems()) problems_.add(placed(problem), name);
    }
  }

  void finish() {
    const std::size_t all = plan_.file.runs();
    auto problems = problems_.texts(all);
    constexpr std::size_t kShown = 100;
    if (problems.size() > kShown) {
      const std::string more = "and " + std::to_string(problems.size() - kShown) + " more";
      problems.resize(kShown);
      problems.push_back(more);
    }
    if (!problems.empty()) throw OptionError(problems);
    plan_.notes = notes_.texts(all);
  }

 private:
  // With the sweep's name in front where a message names no file.
  std::string placed(const std::string& problem) const {
    const auto names = [&](const std::string& place) { return problem.starts_with(place); };
    if (names(plan_.file.path.string() + ":") || names(plan_.file.base.string() + ":") ||
        names("--")) {
      return problem;
    }
    return plan_.file.path.string() + ": " + problem;
  }

  SweepPlan& plan_;
  Messages problems_, notes_;
  std::map<std::string, std::string> by_config_;  // the first run's name
};

// The value of a key, with the paths in it made absolute, as in a document that sets nothing else.
Value absolute_value(const std::vector<std::string>& path, const Value& value) {
  Value document = value;
  for (auto part = path.rbegin(); part != path.rend(); ++part) {
    document = Table{{*part, document}};
  }
  const Table absolute = with_absolute_paths(*document.get<Table>());
  const Value* found = absolute.find(path.front());
  for (std::size_t i = 1; i < path.size(); ++i) found = found->get<Table>()->find(path[i]);
  return *found;
}

void make_paths_absolute(std::vector<SweepAxis>& axes) {
  for (SweepAxis& axis : axes) {
    for (Value& value : axis.values) {
      try {
        value = absolute_value(config::make_override(axis.key, value).path, value);
      } catch (const OptionError&) {  // no key: reported with the runs
      }
    }
  }
}

nlohmann::ordered_json json_of(const Value& value) {
  if (const auto* v = value.get<bool>()) return *v;
  if (const auto* v = value.get<std::int64_t>()) return *v;
  if (const auto* v = value.get<std::string>()) return *v;
  if (const auto* v = value.get<double>()) {
    if (std::isfinite(*v)) return *v;
    return value.text();  // JSON has no infinity
  }
  if (const auto* list = value.get<Array>()) {
    auto json = nlohmann::ordered_json::array();
    for (const Value& item : *list) json.push_back(json_of(item));
    return json;
  }
  auto json = nlohmann::ordered_json::object();
  for (const auto& [key, item] : value.get<Table>()->entries()) json[key] = json_of(item);
  return json;
}

Table table_of(const std::vector<SweepAxis>& axes) {
  Table table;
  for (const SweepAxis& axis : axes) table.set(axis.key, axis.values);
  return table;
}

std::string with_overrides(const SweepPlan& plan, const std::vector<config::Override>& overrides) {
  Table document = config::read_toml(plan.base, plan.file.base.string());
  config::apply_overrides(overrides, sections(), document);
  return config::write_toml(with_absolute_paths(std::move(document)));
}

}  // namespace

SweepPlan plan_sweep(SweepFile file, std::vector<config::Override> changes) {
  check_changes(file, changes);
  make_paths_absolute(file.grid);
  make_paths_absolute(file.zip);
  try {
    config::read_toml_file(file.base);
  } catch (const OptionError& error) {
    throw OptionError(file.path.string() + ": base: " + error.what());
  }
  SweepPlan plan;
  plan.base = text_in(file.base);
  plan.file = std::move(file);
  plan.changes = std::move(changes);
  const auto runs = combinations(plan.file);
  const auto names = sweep_run_names(runs, telling_keys(plan.file));
  Planning planning(plan);
  for (std::size_t i = 0; i < runs.size(); ++i) planning.add(names[i], runs[i]);
  planning.finish();
  return plan;
}

std::string run_document(const SweepPlan& plan, const PlannedRun& run) {
  return with_overrides(plan, overrides_of(plan.changes, run.settings));
}

std::string base_document(const SweepPlan& plan) { return with_overrides(plan, plan.changes); }

std::string sweep_document(const SweepPlan& plan) {
  const SweepFile& file = plan.file;
  Table document{{"base", "base.toml"},
                 {"out", fs::absolute(file.out).lexically_normal().string()}};
  if (!file.seeds.values.empty()) document.set("seeds", file.seeds.values);
  if (!file.grid.empty()) document.set("grid", table_of(file.grid));
  if (!file.zip.empty()) document.set("zip", table_of(file.zip));
  return config::write_toml(document);
}

std::string runs_document(const SweepPlan& plan) {
  auto list = nlohmann::ordered_json::array();
  for (const PlannedRun& run : plan.runs) {
    auto settings = nlohmann::ordered_json::object();
    for (const auto& [key, value] : run.settings) settings[key] = json_of(value);
    list.push_back({{"folder", run.name}, {"settings", std::move(settings)}});
  }
  return list.dump(1) + "\n";
}

std::vector<std::string> telling_keys(const SweepFile& file) {
  std::vector<std::string> keys;
  for (const SweepAxis& axis : file.grid) keys.push_back(axis.key);
  for (const auto& key : telling_zip_keys(file)) keys.push_back(key);
  std::stable_partition(keys.begin(), keys.end(),
                        [](const std::string& key) { return key == "method.name"; });
  std::stable_partition(keys.begin(), keys.end(),
                        [](const std::string& key) { return key != "seed"; });
  if (!file.seeds.values.empty()) keys.push_back(file.seeds.key);
  return keys;
}

std::string settings_text(const SweepSettings& settings) {
  std::string text;
  for (const auto& [key, value] : settings) {
    text += (text.empty() ? "" : ", ") + key + " = " + config::shortened(value.text());
  }
  return text;
}

}  // namespace fedvg
