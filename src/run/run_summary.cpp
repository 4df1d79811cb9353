#include "run/run_summary.h"

#include <fmt/format.h>

#include <cmath>

#include "data/wording.h"
#include "run/round_lines.h"
#include "run/setup_block.h"

namespace fedvg {
namespace {

constexpr std::size_t kNamed = 10;  // longer lists end in "and N more"

std::string rounds_text(const std::vector<std::int64_t>& rounds) {
  std::string text;
  for (std::size_t i = 0; i < rounds.size() && i < kNamed; ++i) {
    text += (i ? ", " : "") + std::to_string(rounds[i]);
  }
  if (rounds.size() > kNamed) text += fmt::format(" and {} more", rounds.size() - kNamed);
  return (rounds.size() == 1 ? "round " : "rounds ") + text;
}

std::string accuracy_text(const Evaluation& evaluation) {
  return fmt::format("accuracy {:.4f}, loss {}", evaluation.accuracy, figure_text(evaluation.loss));
}

std::string clients_text(std::int64_t round, const ClientFigures& figures) {
  const std::string covered =
      figures.own_models
          ? fmt::format("each client's own model after round {} on its training data, {}", round,
                        counted(figures.clients, "client"))
          : fmt::format("global model after round {} on the training data of {}", round,
                        counted(figures.clients, "client"));
  return fmt::format(
      "{}: accuracy mean {:.4f}, by samples {:.4f}, worst 10 % ({}) {:.4f}, standard deviation "
      "{:.4f}",
      covered, figures.mean, figures.weighted, counted(worst_clients(figures.clients), "client"),
      figures.worst, figures.deviation);
}

}  // namespace

void RunSummary::add(const RoundResult& result) {
  const RoundRecord& record = result.record;
  ++seen_.finished;
  seen_.seconds += result.seconds;
  if (result.test) {
    seen_.last = {record.round, *result.test};
    if (!std::isfinite(result.test->loss)) {
      seen_.not_finite["the test set"].push_back(record.round);
    } else if (!seen_.best || result.test->accuracy > seen_.best->evaluation.accuracy) {
      seen_.best = seen_.last;
    }
  }
  if (result.validation) {
    seen_.last_validation = {record.round, *result.validation};
    if (!std::isfinite(result.validation->loss)) seen_.not_finite["D_val"].push_back(record.round);
  }
  if (result.clients) seen_.last_clients = {record.round, *result.clients};
  seen_.participants += record.participants;
  if (record.is_void) seen_.void_rounds.emplace_back(record.round, record.void_reason);
  for (const ClientRecord& client : record.clients) {
    if (client.status == "dropped") {
      ++seen_.dropped;
    } else if (client.status != "ok") {
      seen_.left_out[{client.status, client.client}].push_back(record.round);
    }
  }
}

double RunSummary::seconds_per_round() const {
  return seen_.finished == 0 ? 0 : seen_.seconds / static_cast<double>(seen_.finished);
}

std::vector<std::string> RunSummary::lines(const std::string& model, std::int64_t test,
                                           std::int64_t validation,
                                           const std::string& things) const {
  std::vector<std::string> lines = {topic_line(
      "finished", fmt::format("{} round{} in {}", seen_.finished, seen_.finished == 1 ? "" : "s",
                              duration_text(seen_.seconds)))};
  if (seen_.last) {
    lines.push_back(topic_line("last", fmt::format("test {}: {} after round {}, {} test {}",
                                                   accuracy_text(seen_.last->evaluation), model,
                                                   seen_.last->round, test, things)));
    lines.push_back(topic_line(
        "best", seen_.best ? fmt::format("test accuracy {:.4f}, after round {}",
                                         seen_.best->evaluation.accuracy, seen_.best->round)
                           : "none: no test loss was finite"));
  }
  if (seen_.last_validation) {
    lines.push_back(
        topic_line("D_val", fmt::format("{}: {} after round {}, {} validation {}",
                                        accuracy_text(seen_.last_validation->evaluation), model,
                                        seen_.last_validation->round, validation, things)));
  }
  if (seen_.last_clients) {
    lines.push_back(
        topic_line("clients", clients_text(seen_.last_clients->first, seen_.last_clients->second)));
  }
  if (seen_.dropped > 0) {
    lines.push_back(
        topic_line("dropped", fmt::format("{} of {} answers never came (train.drop_out)",
                                          seen_.dropped, seen_.participants)));
  }
  for (const std::string& note : notes_) lines.push_back(topic_line("note", note));
  for (const std::string& warning : warnings_) lines.push_back(topic_line("warning", warning));
  for (const auto& [set, rounds] : seen_.not_finite) {
    lines.push_back(topic_line(
        "warning", fmt::format("loss on {} not finite ({}): {}", set, model, rounds_text(rounds))));
  }
  if (!seen_.void_rounds.empty()) {
    std::map<std::string, std::vector<std::int64_t>> by_reason;
    for (const auto& [round, reason] : seen_.void_rounds) by_reason[reason].push_back(round);
    for (const auto& [reason, rounds] : by_reason) {
      lines.push_back(
          topic_line("warning", fmt::format("{} of {} rounds void ({}): {}", rounds.size(),
                                            seen_.finished, reason, rounds_text(rounds))));
    }
  }
  std::size_t named = 0;
  for (const auto& [who, rounds] : seen_.left_out) {
    if (named++ == kNamed) {
      lines.push_back(topic_line("warning", fmt::format("{} more such clients, see clients.csv",
                                                        seen_.left_out.size() - kNamed)));
      break;
    }
    const auto& [status, client] = who;
    lines.push_back(
        topic_line("warning", fmt::format("client {} {} ({}) in {}", client,
                                          status == "no-steps" ? "not weighted" : "rejected",
                                          status, rounds_text(rounds))));
  }
  return lines;
}

}  // namespace fedvg
