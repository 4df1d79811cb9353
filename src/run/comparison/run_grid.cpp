#include "run/comparison/run_grid.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <charconv>
#include <map>
#include <optional>
#include <set>

#include "config/nearest.h"
#include "fedvg/error.h"

namespace fedvg {
namespace {

using Texts = std::vector<std::string>;
using Runs = std::vector<const CountedRun*>;

bool contains(const Texts& texts, const std::string& text) {
  return std::find(texts.begin(), texts.end(), text) != texts.end();
}

// "method" is how people name method.name.
std::string setting_key(const std::string& key) { return key == "method" ? "method.name" : key; }

std::optional<double> number_of(const std::string& text) {
  double number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (error != std::errc() || end != text.data() + text.size()) return std::nullopt;
  return number;
}

std::set<std::string> deciding_keys(const Runs& runs) {
  std::set<std::string> keys;
  for (const CountedRun* run : runs) {
    for (const auto& [key, value] : run->deciding) keys.insert(key);
  }
  return keys;
}

// Distinct values of a setting.
Texts values_of(const Runs& runs, const std::string& key) {
  Texts values;
  for (const CountedRun* run : runs) {
    const std::string value = value_of(run->deciding, key);
    if (!contains(values, value)) values.push_back(value);
  }
  return values;
}

// ---- Groups -------------------------------------------------------------------------------

Texts labels_of(const Runs& groups) {
  Texts telling;
  for (const std::string& key : deciding_keys(groups)) {
    if (key != "method.name" && values_of(groups, key).size() > 1) telling.push_back(key);
  }
  const auto labels_with = [&](bool method_parts) {
    Texts labels;
    for (const CountedRun* group : groups) {
      std::string label = group->method;
      for (const std::string& key : telling) {
        if (!method_parts && key.starts_with("method.")) continue;
        const std::string value = value_of(group->deciding, key);
        if (value != "unset") label.append(" ").append(key).append("=").append(value);
      }
      labels.push_back(label);
    }
    return labels;
  };
  // What a method's name stands for needs no telling, unless names alone do not tell.
  const auto labels = labels_with(false);
  const bool distinct = std::set(labels.begin(), labels.end()).size() == labels.size();
  return distinct ? labels : labels_with(true);
}

// ---- Settings -----------------------------------------------------------------------------

void check_keys(const std::vector<CountedRun>& runs, const Texts& keys, const char* option) {
  std::set<std::string> known = {"method"};
  for (const CountedRun& run : runs) {
    for (const auto& [key, value] : run.settings) known.insert(key);
  }
  known.erase("seed");
  for (const std::string& key : keys) {
    if (known.contains(key)) continue;
    throw OptionError(
        fmt::format("{}: {}", option,
                    config::unknown_text("setting", key, "in the config.toml of these runs",
                                         {known.begin(), known.end()})));
  }
}

Texts line_values(const CountedRun& run, const Texts& keys) {
  Texts values;
  for (const std::string& key : keys) {
    values.push_back(shown_value(value_of(run.settings, setting_key(key))));
  }
  return values;
}

// Of one setting its value alone.
std::string line_label(const Texts& keys, const Texts& values) {
  std::string label;
  for (std::size_t i = 0; i < keys.size(); ++i) {
    if (i > 0) label += " ";
    if (keys.size() > 1 && setting_key(keys[i]) != "method.name") label += keys[i] + "=";
    label += values[i];
  }
  return label;
}

// Where a value of setting number `key` comes: by number when all are numbers, otherwise by
// appearance.
std::map<std::string, double> places(const std::vector<RunLine>& lines, std::size_t key) {
  std::map<std::string, double> place;
  for (const RunLine& line : lines) {
    place.emplace(line.values[key], static_cast<double>(place.size()));
  }
  const bool numbers = std::all_of(place.begin(), place.end(), [](const auto& entry) {
    return number_of(entry.first).has_value();
  });
  if (numbers) {
    for (auto& [text, number] : place) number = *number_of(text);
  }
  return place;
}

std::vector<RunLine> lines_of(const std::vector<CountedRun>& runs, const Texts& keys) {
  std::vector<RunLine> lines;
  for (const CountedRun& run : runs) {
    const Texts values = line_values(run, keys);
    const bool known = std::any_of(lines.begin(), lines.end(),
                                   [&](const RunLine& line) { return line.values == values; });
    if (!known) lines.push_back({line_label(keys, values), values});
  }
  for (std::size_t key = keys.size(); key-- > 0;) {  // the first key decides
    const auto place = places(lines, key);
    std::stable_sort(lines.begin(), lines.end(), [&](const RunLine& a, const RunLine& b) {
      return place.at(a.values[key]) < place.at(b.values[key]);
    });
  }
  return lines;
}

std::size_t index_of(const std::vector<RunLine>& lines, const Texts& values) {
  const auto found = std::find_if(lines.begin(), lines.end(),
                                  [&](const RunLine& line) { return line.values == values; });
  return static_cast<std::size_t>(found - lines.begin());
}

bool is_line_key(const std::string& key, const Texts& rows, const Texts& columns) {
  const auto names = [&](const Texts& keys) {
    return std::any_of(keys.begin(), keys.end(),
                       [&](const std::string& given) { return setting_key(given) == key; });
  };
  return names(rows) || names(columns);
}

// "train.epochs (1, 5)" for each setting in which the runs differ beside rows and columns.
std::map<std::string, std::string> differences(const Runs& runs, const Texts& rows,
                                               const Texts& columns) {
  std::map<std::string, std::string> texts;
  for (const std::string& key : deciding_keys(runs)) {
    if (is_line_key(key, rows, columns)) continue;
    Texts values = values_of(runs, key);
    if (values.size() < 2) continue;
    for (std::string& value : values) value = shown_value(value);
    texts[key] = fmt::format("{} ({})", key, fmt::join(values, ", "));
  }
  return texts;
}

std::string joined(const std::map<std::string, std::string>& differences) {
  std::string text;
  for (const auto& [key, difference] : differences) {
    text += (text.empty() ? "" : ", ") + difference;
  }
  return text;
}

// Nothing but the seed is averaged over.
void check_cells(const RunGrid& grid, const Texts& rows, const Texts& columns) {
  for (std::size_t row = 0; row < grid.rows.size(); ++row) {
    for (std::size_t column = 0; column < grid.columns.size(); ++column) {
      const auto different = differences(grid.cells[row][column], rows, columns);
      if (different.empty()) continue;
      throw OptionError(fmt::format(
          "the runs of {} differ in more than the seed: {}; name what is meant under --rows or "
          "--columns, or compare fewer runs",
          grid.cell_name(row, column), joined(different)));
    }
  }
}

// Has each method the same value of this setting wherever it stands?
bool follows_method(const Runs& runs, const std::string& key) {
  std::map<std::string, std::string> by_method;
  return std::all_of(runs.begin(), runs.end(), [&](const CountedRun* run) {
    const std::string value = value_of(run->deciding, key);
    return by_method.emplace(run->method, value).first->second == value;
  });
}

// In what two runs of the same deciding settings and seed differ, for the note about them.
std::string difference_text(const CountedRun& kept, const CountedRun& dropped) {
  Texts different;
  bool rounding = false;
  for (const std::string& key : differing_keys(kept.settings, dropped.settings)) {
    different.push_back(fmt::format("{} ({}, {})", key, shown_value(value_of(kept.settings, key)),
                                    shown_value(value_of(dropped.settings, key))));
    rounding = rounding || changes_rounding(key);
  }
  if (different.empty()) return "";
  return fmt::format("; they differ in {}{}", fmt::join(different, ", "),
                     rounding ? ", which changes results by rounding" : "");
}

std::string seeds_text(const std::set<std::int64_t>& seeds) {
  return (seeds.size() == 1 ? "seed " : "seeds ") + fmt::format("{}", fmt::join(seeds, ", "));
}

std::set<std::int64_t> seeds_of(const Runs& runs) {
  std::set<std::int64_t> seeds;
  for (const CountedRun* run : runs) seeds.insert(run->seed);
  return seeds;
}

Runs all_runs(const RunGrid& grid) {
  Runs all;
  for (const auto& row : grid.cells) {
    for (const Runs& cell : row) all.insert(all.end(), cell.begin(), cell.end());
  }
  return all;
}

// "fedvg × 0.1 (seeds 4, 5)", or without brackets where there is none at all.
Texts missing_results(const RunGrid& grid) {
  const auto wanted = seeds_of(all_runs(grid));
  Texts missing;
  for (std::size_t row = 0; row < grid.rows.size(); ++row) {
    for (std::size_t column = 0; column < grid.columns.size(); ++column) {
      std::set<std::int64_t> lacking = wanted;
      for (const auto seed : seeds_of(grid.cells[row][column])) lacking.erase(seed);
      if (lacking.empty()) continue;
      const bool none = lacking.size() == wanted.size();
      missing.push_back(grid.cell_name(row, column) +
                        (none ? " (every seed)" : " (" + seeds_text(lacking) + ")"));
    }
  }
  return missing;
}

}  // namespace

std::string RunGrid::cell_name(std::size_t row, std::size_t column) const {
  const std::string& of_column = columns[column].label;
  const std::string& of_row = rows[row].label;
  if (of_row.empty()) return of_column;
  return of_column.empty() ? of_row : of_row + " × " + of_column;
}

RunGrid grid_of_groups(const std::vector<CountedRun>& runs) {
  Runs groups;  // the first run of each
  RunGrid grid;
  grid.columns.resize(1);
  for (const CountedRun& run : runs) {
    const auto found = std::find_if(groups.begin(), groups.end(), [&](const CountedRun* group) {
      return group->deciding == run.deciding;
    });
    const auto row = static_cast<std::size_t>(found - groups.begin());
    if (found == groups.end()) {
      groups.push_back(&run);
      grid.cells.push_back({{}});
    }
    grid.cells[row][0].push_back(&run);
  }
  for (const std::string& label : labels_of(groups)) grid.rows.push_back({label, {label}});
  return grid;
}

RunGrid grid_of_settings(const std::vector<CountedRun>& runs, const Texts& rows,
                         const Texts& columns) {
  check_keys(runs, rows, "--rows");
  check_keys(runs, columns, "--columns");
  RunGrid grid;
  grid.rows = lines_of(runs, rows);
  grid.columns = lines_of(runs, columns);
  grid.cells.assign(grid.rows.size(), std::vector<Runs>(grid.columns.size()));
  for (const CountedRun& run : runs) {
    const auto row = index_of(grid.rows, line_values(run, rows));
    const auto column = index_of(grid.columns, line_values(run, columns));
    grid.cells[row][column].push_back(&run);
  }
  check_cells(grid, rows, columns);
  return grid;
}

void drop_repeated_seeds(RunGrid& grid, Texts& notes) {
  for (auto& row : grid.cells) {
    for (Runs& cell : row) {
      std::map<std::int64_t, const CountedRun*> kept;
      std::erase_if(cell, [&](const CountedRun* run) {
        const auto [first, added] = kept.emplace(run->seed, run);
        if (added) return false;
        notes.push_back(fmt::format(
            "{} is left out: another run has its settings and its seed, {}: {}{}", run->folder,
            run->seed, first->second->folder, difference_text(*first->second, *run)));
        return true;
      });
    }
  }
}

Texts grid_notes(const RunGrid& grid, const Texts& rows, const Texts& columns) {
  Texts notes;
  const Texts missing = missing_results(grid);
  if (!missing.empty()) {
    notes.push_back(fmt::format("results are missing: {}", fmt::join(missing, "; ")));
  }
  const Runs all = all_runs(grid);
  auto different = differences(all, rows, columns);
  if (is_line_key("method.name", rows, columns)) {
    std::erase_if(different, [&](const auto& setting) {
      return setting.first.starts_with("method.") && follows_method(all, setting.first);
    });
  }
  if (!different.empty()) {
    notes.push_back("beside rows and columns the cells differ in " + joined(different));
  }
  return notes;
}

}  // namespace fedvg
