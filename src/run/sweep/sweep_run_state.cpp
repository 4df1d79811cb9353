#include "run/sweep/sweep_run_state.h"

#include <algorithm>
#include <array>
#include <fstream>
#include <iterator>
#include <sstream>

#include "fedvg/error.h"
#include "run/checkpoints/resume.h"
#include "run/csv.h"
#include "run/run_end.h"
#include "run/whole_file.h"

namespace fedvg {
namespace {

namespace fs = std::filesystem;

bool brings_its_clients(const std::string& config) {
  return config.find("\nscheme = \"file\"\n") != std::string::npos ||
         config.find("\nscheme = \"natural\"\n") != std::string::npos;
}

// One line a setting, as config.toml has them.
std::string deciding_lines(const std::string& config, bool with_clients) {
  std::istringstream lines(config);
  std::string section, kept;
  for (std::string line; std::getline(lines, line);) {
    if (line.starts_with('[')) section = line;
    const std::string key = section.empty() ? "" : section.substr(1, section.size() - 2) + ".";
    const std::string setting = key + line.substr(0, line.find(" = "));
    if (may_change(setting) || (!with_clients && setting == "partition.clients")) continue;
    kept += line + "\n";
  }
  return kept;
}

bool same_run(const std::string& planned, const std::string& written) {
  if (planned == written) return true;
  const bool clients = !brings_its_clients(planned);
  return deciding_lines(planned, clients) == deciding_lines(written, clients);
}

}  // namespace

bool is_finished_run(const fs::path& folder, const std::string& config, std::int64_t rounds) {
  try {
    return has_ended(folder, rounds) && same_run(config, text_in(folder / "config.toml"));
  } catch (const DataError&) {  // a damaged run.json: said when the run is taken up
    return false;
  }
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
