#include "run/run_settings.h"

#include <algorithm>
#include <set>
#include <utility>

namespace fedvg {
namespace {

void flatten(const Table& table, const std::string& prefix, Settings& settings) {
  for (const auto& [key, value] : table.entries()) {
    if (const Table* inner = value.get<Table>()) {
      flatten(*inner, prefix + key + ".", settings);
    } else {
      settings[prefix + key] = value.text();
    }
  }
}

}  // namespace

Settings flat_settings(const Table& settings) {
  Settings flat;
  flatten(settings, "", flat);
  return flat;
}

Settings deciding_settings(const Settings& settings) {
  const auto patience = settings.find("train.patience");
  const bool stops_early = patience != settings.end() && patience->second != "0";
  Settings deciding = settings;
  std::erase_if(deciding, [&](const auto& setting) {
    const std::string& key = setting.first;
    if (key == "checkpoint.best") return !stops_early;
    return key == "seed" || key == "evaluate.clients" || key.starts_with("checkpoint.") ||
           key.starts_with("report.") || (key.starts_with("engine.") && key != "engine.precision");
  });
  return deciding;
}

bool changes_rounding(const std::string& key) {
  return key == "engine.threads" || key == "engine.kernels" || key == "engine.live_taps";
}

std::vector<std::string> differing_keys(const Settings& a, const Settings& b) {
  std::set<std::string> differing;
  for (const auto& [one, other] : {std::pair(&a, &b), std::pair(&b, &a)}) {
    for (const auto& [key, value] : *one) {
      const auto found = other->find(key);
      if (found == other->end() || found->second != value) differing.insert(key);
    }
  }
  return {differing.begin(), differing.end()};
}

std::string value_of(const Settings& settings, const std::string& key) {
  const auto found = settings.find(key);
  return found == settings.end() ? "unset" : found->second;
}

std::string shown_value(const std::string& value) {
  const bool plain = value.size() >= 2 && value.front() == '"' && value.back() == '"' &&
                     value.find('\\') == std::string::npos &&
                     std::count(value.begin(), value.end(), '"') == 2;
  return plain ? value.substr(1, value.size() - 2) : value;
}

}  // namespace fedvg
