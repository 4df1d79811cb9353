#include "run/round_lines.h"

#include <fmt/format.h>

#include <cmath>
#include <map>
#include <numeric>

namespace fedvg {
namespace {

std::string fixed(const std::optional<double>& number) {
  return number ? figure_text(*number) : "-";
}

std::string short_form(const std::optional<double>& number) {
  return number ? fmt::format("{:.4g}", *number) : "-";
}

constexpr const char* kLayout = "{:>6}  {:>8}  {:>9}  {:>10}  {:>10}  {:>8}  {:>8}  {:>8}";

}  // namespace

std::string round_title() {
  return fmt::format(kLayout, "round", "accuracy", "loss", "max weight", "min weight", "rejected",
                     "seconds", "ETA");
}

std::string round_line(const RoundResult& result, std::optional<double> seconds_left) {
  const RoundRecord& record = result.record;
  const auto& test = result.test;
  const std::string line = fmt::format(
      kLayout, record.round, fixed(test ? std::optional(test->accuracy) : std::nullopt),
      fixed(test ? std::optional(test->loss) : std::nullopt), short_form(record.weight_max),
      short_form(record.weight_min), record.rejected, fmt::format("{:.2f}", result.seconds),
      seconds_left ? duration_text(*seconds_left) : "-");
  return record.is_void ? line + "  void" : line;
}

std::string figure_text(double figure) {
  if (std::isnan(figure)) return "nan";
  return std::abs(figure) < 1e4 ? fmt::format("{:.4f}", figure) : fmt::format("{:.3e}", figure);
}

std::string duration_text(double seconds) {
  const auto whole = static_cast<std::int64_t>(std::llround(seconds));
  if (whole < 60) return fmt::format("{} s", whole);
  if (whole < 3600) return fmt::format("{}:{:02}", whole / 60, whole % 60);
  return fmt::format("{}:{:02}:{:02}", whole / 3600, whole / 60 % 60, whole % 60);
}

std::vector<std::string> round_warnings(const RoundRecord& record) {
  std::vector<std::string> warnings;
  std::map<std::string, std::vector<const ClientRecord*>> by_status;
  for (const ClientRecord& client : record.clients) {
    if (client.status != "ok" && client.status != "dropped") {
      by_status[client.status].push_back(&client);
    }
  }
  for (const auto& [status, clients] : by_status) {
    constexpr std::size_t kNamed = 10;
    std::string names;
    for (std::size_t i = 0; i < clients.size() && i < kNamed; ++i) {
      names += (i ? ", " : "") + std::to_string(clients[i]->client);
    }
    if (clients.size() > kNamed) names += fmt::format(" and {} more", clients.size() - kNamed);
    warnings.push_back(fmt::format("round {}: client{} {} {} ({})", record.round,
                                   clients.size() == 1 ? "" : "s", names,
                                   status == "no-steps" ? "not weighted" : "rejected", status));
  }
  if (record.is_void) {
    warnings.push_back(fmt::format("round {} is void: {}; the model stays as it was", record.round,
                                   record.void_reason));
  }
  return warnings;
}

std::string loss_warning(const Evaluation& evaluation, const std::string& model,
                         const std::string& set) {
  if (std::isfinite(evaluation.loss)) return "";
  const auto samples = class_samples(evaluation.confusion);
  const auto all = std::accumulate(samples.begin(), samples.end(), std::int64_t{0});
  return fmt::format(
      "the loss on {} is not finite ({}): outputs are too large or not numbers; {} of {} samples "
      "have no prediction and count as wrong; smaller learning rates, train.clip or "
      "data.normalize keep outputs in range",
      set, model, without_prediction(evaluation.confusion), all);
}

}  // namespace fedvg
