#include "run/run_end.h"

#include <fstream>
#include <nlohmann/json.hpp>

#include "fedvg/error.h"

namespace fedvg {

std::filesystem::path run_end_file(const std::filesystem::path& run) { return run / "run.json"; }

std::string text_of(const RunEnd& end) {
  const nlohmann::ordered_json json = {
      {"finished", true}, {"rounds", end.rounds}, {"stopped", end.early ? "early" : "all rounds"}};
  return json.dump(2) + "\n";
}

std::optional<RunEnd> read_run_end(const std::filesystem::path& run) {
  std::ifstream file(run_end_file(run));
  if (!file) return std::nullopt;
  try {
    const auto json = nlohmann::json::parse(file);
    if (!json.at("finished").get<bool>()) return std::nullopt;
    return RunEnd{json.at("rounds").get<std::int64_t>(),
                  json.at("stopped").get<std::string>() == "early"};
  } catch (const nlohmann::json::exception&) {
    throw DataError(run_end_file(run).string() +
                    ": damaged, or not of a run: remove it, and continue the run with --resume");
  }
}

bool has_ended(const std::filesystem::path& run, std::int64_t wanted) {
  const auto end = read_run_end(run);
  return end && end->is_of(wanted) && std::filesystem::exists(run / "rounds.csv") &&
         std::filesystem::exists(run / "model.safetensors");
}

}  // namespace fedvg
