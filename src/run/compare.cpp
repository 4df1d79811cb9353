#include "run/compare.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <set>

#include "fedvg/error.h"
#include "run/run_history.h"

namespace fedvg {
namespace {

using Settings = std::map<std::string, std::string>;  // by dotted key, as TOML writes them

void flatten(const Table& table, const std::string& prefix, Settings& settings) {
  for (const auto& [key, value] : table.entries()) {
    if (const Table* inner = value.get<Table>()) {
      flatten(*inner, prefix + key + ".", settings);
    } else {
      settings[prefix + key] = value.text();
    }
  }
}

// Of what decides the result.
Settings deciding_settings(const RunHistory& run) {
  Settings settings;
  flatten(run.settings, "", settings);
  std::erase_if(settings, [](const auto& setting) {
    const std::string& key = setting.first;
    return key == "seed" || key.starts_with("report.") ||
           (key.starts_with("engine.") && key != "engine.precision");
  });
  return settings;
}

struct Member {
  std::int64_t seed;
  double final_value, last_mean;
};

struct Gathered {
  Settings settings;
  std::string method;
  std::int64_t rounds;
  std::vector<Member> members;
};

// The last measured value and the mean of those in the last rounds; nothing measured: empty.
std::optional<Member> member_of(const RunHistory& run, std::int64_t last) {
  const auto first = run.metric.end() - std::min<std::ptrdiff_t>(last, std::ssize(run.metric));
  std::vector<double> measured;
  for (auto value = first; value != run.metric.end(); ++value) {
    if (*value) measured.push_back(**value);
  }
  if (measured.empty()) return std::nullopt;
  return Member{run.seed, measured.back(), spread_of(measured).mean};
}

std::string value_of(const Gathered& group, const std::string& key) {
  const auto found = group.settings.find(key);
  return found == group.settings.end() ? "unset" : found->second;
}

// Keys whose values differ between groups.
std::vector<std::string> telling_keys(const std::vector<Gathered>& groups) {
  std::set<std::string> keys;
  for (const Gathered& group : groups) {
    for (const auto& [key, value] : group.settings) keys.insert(key);
  }
  std::vector<std::string> telling;
  for (const std::string& key : keys) {
    if (key == "method.name") continue;
    for (const Gathered& group : groups) {
      if (value_of(group, key) != value_of(groups.front(), key)) {
        telling.push_back(key);
        break;
      }
    }
  }
  return telling;
}

std::vector<std::string> labels_of(const std::vector<Gathered>& groups) {
  const auto telling = telling_keys(groups);
  const auto labels_with = [&](bool method_parts) {
    std::vector<std::string> labels;
    for (const Gathered& group : groups) {
      std::string label = group.method;
      for (const std::string& key : telling) {
        if (!method_parts && key.starts_with("method.")) continue;
        const std::string value = value_of(group, key);
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

void note_lengths(Comparison& comparison) {
  std::set<std::int64_t> lengths;
  for (const RunGroup& group : comparison.groups) lengths.insert(group.rounds);
  if (lengths.size() > 1) {
    std::string text = "runs of different length are compared:";
    for (const RunGroup& group : comparison.groups) {
      text += " " + group.label + ": " + std::to_string(group.rounds) + " rounds;";
    }
    text.pop_back();
    comparison.notes.push_back(text);
  }
  if (*lengths.begin() < comparison.options.last) {
    comparison.notes.push_back("a run of " + std::to_string(*lengths.begin()) +
                               " rounds has no last " + std::to_string(comparison.options.last) +
                               ": the mean is over all its rounds");
  }
}

// Reads the runs that count; says which do not.
std::vector<Gathered> gather(const std::vector<std::filesystem::path>& folders,
                             const CompareOptions& options, std::vector<std::string>& notes) {
  std::vector<Gathered> groups;
  std::set<std::filesystem::path> seen;
  for (const auto& folder : folders) {
    const auto leave_out = [&](const std::string& why) {
      notes.push_back(folder.string() + " is left out: " + why);
    };
    std::error_code ignored;
    if (!seen.insert(std::filesystem::weakly_canonical(folder, ignored)).second) {
      leave_out("named twice");
      continue;
    }
    RunHistory run;
    try {
      run = read_run_history(folder, options.metric);
    } catch (const DataError& error) {
      leave_out(error.what());
      continue;
    }
    if (run.finished != run.rounds) {
      leave_out("it has " + std::to_string(run.finished) + " of " + std::to_string(run.rounds) +
                " rounds");
      continue;
    }
    const auto member = member_of(run, options.last);
    if (!member) {
      leave_out("it did not measure " + options.metric + " in its last rounds");
      continue;
    }
    if (!std::isfinite(member->final_value) || !std::isfinite(member->last_mean)) {
      leave_out(options.metric + " is not finite in its last rounds");
      continue;
    }
    if (run.voided > 0) {
      notes.push_back(folder.string() + ": " + std::to_string(run.voided) + " of " +
                      std::to_string(run.rounds) + " rounds were void");
    }
    const Settings settings = deciding_settings(run);
    auto group = std::find_if(groups.begin(), groups.end(), [&](const Gathered& candidate) {
      return candidate.settings == settings;
    });
    if (group == groups.end()) {
      group = groups.insert(group, {settings, run.method, run.rounds, {}});
    }
    const bool repeated = std::any_of(group->members.begin(), group->members.end(),
                                      [&](const Member& other) { return other.seed == run.seed; });
    if (repeated) {
      leave_out("another run has its settings and its seed, " + std::to_string(run.seed));
      continue;
    }
    group->members.push_back(*member);
  }
  return groups;
}

}  // namespace

Better better_end(const std::string& metric) {
  const auto ends_with_any = [&](std::initializer_list<const char*> ends) {
    return std::any_of(ends.begin(), ends.end(),
                       [&](const char* end) { return metric.ends_with(end); });
  };
  if (ends_with_any({"_accuracy", "_f1", "_auroc"})) return Better::higher;
  if (ends_with_any({"_loss"}) || metric.starts_with("seconds") || metric.starts_with("bytes_")) {
    return Better::lower;
  }
  return Better::neither;
}

Comparison compare_runs(const std::vector<std::filesystem::path>& folders,
                        const CompareOptions& options) {
  Comparison comparison{.options = options, .groups = {}, .notes = {}};
  const auto groups = gather(folders, options, comparison.notes);
  if (groups.empty()) {
    std::string text = "no run is left to compare";
    for (const std::string& note : comparison.notes) text += "\n" + note;
    throw RunError(text);
  }
  const auto labels = labels_of(groups);
  for (std::size_t i = 0; i < groups.size(); ++i) {
    RunGroup group{.label = labels[i],
                   .rounds = groups[i].rounds,
                   .seeds = {},
                   .final_value = {},
                   .last_mean = {}};
    std::vector<double> finals, means;
    for (const Member& member : groups[i].members) {
      group.seeds.push_back(member.seed);
      finals.push_back(member.final_value);
      means.push_back(member.last_mean);
    }
    group.final_value = spread_of(finals);
    group.last_mean = spread_of(means);
    comparison.groups.push_back(std::move(group));
  }
  note_lengths(comparison);
  return comparison;
}

}  // namespace fedvg
