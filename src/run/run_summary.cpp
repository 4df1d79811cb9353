#include "run/run_summary.h"

#include <fmt/format.h>

#include <cmath>

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

}  // namespace

void RunSummary::add(const RoundResult& result) {
  const RoundRecord& record = result.record;
  ++finished_;
  seconds_ += result.seconds;
  if (result.test) {
    last_ = {record.round, *result.test};
    if (!std::isfinite(result.test->loss)) {
      not_finite_["the test set"].push_back(record.round);
    } else if (!best_ || result.test->accuracy > best_->evaluation.accuracy) {
      best_ = last_;
    }
  }
  if (result.validation) {
    last_validation_ = {record.round, *result.validation};
    if (!std::isfinite(result.validation->loss)) not_finite_["D_val"].push_back(record.round);
  }
  if (record.is_void) void_rounds_.emplace_back(record.round, record.void_reason);
  for (const ClientRecord& client : record.clients) {
    if (client.status != "ok") left_out_[{client.status, client.client}].push_back(record.round);
  }
}

double RunSummary::seconds_per_round() const {
  return finished_ == 0 ? 0 : seconds_ / static_cast<double>(finished_);
}

std::vector<std::string> RunSummary::lines(const std::string& model, std::int64_t test,
                                           std::int64_t validation,
                                           const std::string& things) const {
  std::vector<std::string> lines = {
      topic_line("finished", fmt::format("{} round{} in {}", finished_, finished_ == 1 ? "" : "s",
                                         duration_text(seconds_)))};
  if (last_) {
    lines.push_back(topic_line(
        "last", fmt::format("test {}: {} after round {}, {} test {}",
                            accuracy_text(last_->evaluation), model, last_->round, test, things)));
    lines.push_back(topic_line("best", best_ ? fmt::format("test accuracy {:.4f}, after round {}",
                                                           best_->evaluation.accuracy, best_->round)
                                             : "none: no test loss was finite"));
  }
  if (last_validation_) {
    lines.push_back(
        topic_line("D_val", fmt::format("{}: {} after round {}, {} validation {}",
                                        accuracy_text(last_validation_->evaluation), model,
                                        last_validation_->round, validation, things)));
  }
  for (const std::string& note : notes_) lines.push_back(topic_line("note", note));
  for (const auto& [set, rounds] : not_finite_) {
    lines.push_back(topic_line(
        "warning", fmt::format("loss on {} not finite ({}): {}", set, model, rounds_text(rounds))));
  }
  if (!void_rounds_.empty()) {
    std::map<std::string, std::vector<std::int64_t>> by_reason;
    for (const auto& [round, reason] : void_rounds_) by_reason[reason].push_back(round);
    for (const auto& [reason, rounds] : by_reason) {
      lines.push_back(
          topic_line("warning", fmt::format("{} of {} rounds void ({}): {}", rounds.size(),
                                            finished_, reason, rounds_text(rounds))));
    }
  }
  std::size_t named = 0;
  for (const auto& [who, rounds] : left_out_) {
    if (named++ == kNamed) {
      lines.push_back(topic_line("warning", fmt::format("{} more such clients, see clients.csv",
                                                        left_out_.size() - kNamed)));
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
