#include "run/sweep/sweep_run_state.h"

#include <algorithm>
#include <array>
#include <fstream>
#include <map>
#include <sstream>
#include <vector>

#include "data/wording.h"
#include "fedvg/error.h"
#include "run/checkpoints/resume.h"
#include "run/csv.h"
#include "run/new_folder.h"
#include "run/run_end.h"
#include "run/run_folder.h"
#include "run/whole_file.h"

namespace fedvg {
namespace {

namespace fs = std::filesystem;

bool brings_its_clients(const std::string& config) {
  return config.find("\nscheme = \"file\"\n") != std::string::npos ||
         config.find("\nscheme = \"natural\"\n") != std::string::npos;
}

// The line of each setting, as config.toml has them.
std::map<std::string, std::string> deciding_lines(const std::string& config, bool with_clients) {
  std::istringstream lines(config);
  std::string section;
  std::map<std::string, std::string> kept;
  for (std::string line; std::getline(lines, line);) {
    if (line.starts_with('[')) section = line;
    if (line.empty() || line == section) continue;
    const std::string key = section.empty() ? "" : section.substr(1, section.size() - 2) + ".";
    const std::string setting = key + line.substr(0, line.find(" = "));
    if (may_change(setting) || (!with_clients && setting == "partition.clients")) continue;
    kept[setting] = line;
  }
  return kept;
}

// Settings with which the run would not go on, by name.
std::vector<std::string> changed_settings(const std::string& planned, const std::string& written) {
  const bool clients = !brings_its_clients(planned);
  const auto now = deciding_lines(planned, clients), before = deciding_lines(written, clients);
  std::vector<std::string> changed;
  for (const auto& [setting, line] : now) {
    const auto was = before.find(setting);
    if (was == before.end() || was->second != line) changed.push_back(setting);
  }
  for (const auto& [setting, line] : before) {
    if (!now.contains(setting)) changed.push_back(setting);
  }
  return changed;
}

}  // namespace

bool is_finished_run(const fs::path& folder, const std::string& config, std::int64_t rounds) {
  try {
    return has_ended(folder, rounds) &&
           changed_settings(config, text_in(folder / "config.toml")).empty();
  } catch (const DataError&) {  // a damaged run.json: said when the run is taken up
    return false;
  }
}

std::string obstacle_in(const fs::path& folder, const std::string& config, std::int64_t rounds) {
  if (const std::string reason = reason_against(folder); !reason.empty()) return reason;
  try {
    if (!RunFolder::holds_run(folder)) return "";
  } catch (const RunError&) {
    return "not a run";
  }
  const auto changed = changed_settings(config, text_in(folder / "config.toml"));
  if (!changed.empty()) {
    const std::size_t more = changed.size() - 1;
    return "another " + changed[0] + (more > 0 ? " and " + std::to_string(more) + " more" : "");
  }
  try {
    const auto end = read_run_end(folder);
    if (end && end->rounds > rounds) return counted(end->rounds, "round") + " behind it";
  } catch (const DataError&) {
    return "damaged run.json";
  }
  return "";
}

std::optional<double> final_accuracy(const fs::path& folder) {
  try {
    const CsvTable table = read_csv(folder / "rounds.csv");
    const auto column = table.column("test_accuracy");
    if (!column) return std::nullopt;
    for (auto row = table.rows.rbegin(); row != table.rows.rend(); ++row) {
      if (const auto accuracy = number_in((*row)[*column], "")) return accuracy;
    }
  } catch (const DataError&) {
  }
  return std::nullopt;
}

std::int64_t RoundCounter::count() {
  std::error_code error;
  const auto size = static_cast<std::int64_t>(fs::file_size(path_, error));
  if (error) return 0;
  if (size < size_) size_ = lines_ = 0;
  std::ifstream in(path_, std::ios::binary);
  in.seekg(size_);
  std::array<char, 1 << 14> piece{};
  while (size_ < size && in) {
    in.read(piece.data(), std::min<std::streamsize>(std::ssize(piece), size - size_));
    const auto got = in.gcount();
    lines_ += std::count(piece.begin(), piece.begin() + got, '\n');
    size_ += got;
  }
  return std::max<std::int64_t>(0, lines_ - 1);  // the header
}

}  // namespace fedvg
