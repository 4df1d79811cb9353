#include "run/comparison/run_metric.h"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <optional>

#include "config/nearest.h"
#include "fedvg/error.h"

namespace fedvg {
namespace {

using Rounds = std::vector<std::optional<double>>;

bool ends_with_any(const std::string& text, std::initializer_list<const char*> ends) {
  return std::any_of(ends.begin(), ends.end(),
                     [&](const char* end) { return text.ends_with(end); });
}

template <class Number>
std::optional<Number> number_of(const std::string& text) {
  Number number{};
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (error != std::errc() || end != text.data() + text.size()) return std::nullopt;
  return number;
}

// Of what a model is good at: a target of it can be reached.
bool is_quality(const std::string& column) {
  return better_end(column) != Better::neither && !column.starts_with("seconds") &&
         !column.starts_with("bytes_");
}

RunMetric parse_target(RunMetric metric, const std::string& kind, const std::string& text,
                       const std::string& rest) {
  const auto colon = rest.rfind(':');
  metric.column = colon == std::string::npos ? "test_accuracy" : rest.substr(0, colon);
  const auto target = number_of<double>(colon == std::string::npos ? rest : rest.substr(colon + 1));
  if (!target || !std::isfinite(*target) || metric.column.empty()) {
    throw OptionError("'" + text + "': wanted " + kind + ":NUMBER or " + kind +
                      ":COLUMN:NUMBER, as " + kind + ":0.8 or " + kind + ":val_accuracy:0.8");
  }
  if (!is_quality(metric.column)) {
    throw OptionError("'" + text + "': no target for column '" + metric.column +
                      "': wanted an accuracy, loss, macro_f1 or macro_auroc");
  }
  metric.target = *target;
  return metric;
}

Rounds needed_column(const RunHistory& run, const std::string& name) {
  auto rounds = run.column(name);
  if (!rounds) throw DataError("its rounds.csv has no column '" + name + "'");
  return *rounds;
}

double finite(double value, const std::string& name, const std::string& where) {
  if (!std::isfinite(value)) throw DataError(name + " is not finite in its " + where);
  return value;
}

double mean_of_last(const Rounds& rounds, std::int64_t last, const std::string& name) {
  double sum = 0, count = 0;
  const auto first = rounds.end() - std::min<std::ptrdiff_t>(last, std::ssize(rounds));
  for (auto round = first; round != rounds.end(); ++round) {
    if (!*round) continue;
    sum += **round;
    ++count;
  }
  if (count == 0) throw DataError("it did not measure " + name + " in its last rounds");
  return finite(sum / count, name, "last rounds");
}

double value_of_round(const Rounds& rounds, std::size_t round, const std::string& name,
                      const std::string& where) {
  if (round >= rounds.size() || !rounds[round]) {
    throw DataError("it did not measure " + name + " in its " + where);
  }
  return finite(*rounds[round], name, where);
}

// As BestRound (checkpoints/best_round.h) has it: a round whose loss on D_val is no finite number
// is not best, whatever its criterion.
std::size_t best_round(const RunHistory& run) {
  const std::string criterion = best_criterion(run);
  const Better better = better_end(criterion);
  if (better == Better::neither) {
    throw DataError("checkpoint.best = \"" + criterion + "\" says no round is better than another");
  }
  const Rounds rounds = needed_column(run, criterion);
  const auto losses = run.column("val_loss");
  const auto is_finite = [](const std::optional<double>& figure) {
    return figure && std::isfinite(*figure);
  };
  std::optional<std::size_t> best;
  for (std::size_t i = 0; i < rounds.size(); ++i) {
    if (!is_finite(rounds[i]) || (losses && !is_finite((*losses)[i]))) continue;
    if (!best ||
        (better == Better::higher ? *rounds[i] > *rounds[*best] : *rounds[i] < *rounds[*best])) {
      best = i;
    }
  }
  if (!best) {
    throw DataError("it has no round with a finite " + criterion +
                    (losses && criterion != "val_loss" ? " and val_loss" : "") +
                    ", which says which round is best");
  }
  return *best;
}

double value_at(const RunHistory& run, const std::string& column, const MetricAt& at) {
  const Rounds rounds = needed_column(run, column);
  switch (at.kind) {
    case MetricAt::Kind::last:
      return mean_of_last(rounds, at.last, column);
    case MetricAt::Kind::best:
      return value_of_round(rounds, best_round(run), column, "best round");
    case MetricAt::Kind::final:
      break;
  }
  return value_of_round(rounds, rounds.size() - 1, column, "last round");
}

// The number of rounds it takes; nothing: it never gets there.
std::optional<std::size_t> rounds_to(const Rounds& rounds, Better better, double target) {
  for (std::size_t i = 0; i < rounds.size(); ++i) {
    if (rounds[i] && (better == Better::higher ? *rounds[i] >= target : *rounds[i] <= target)) {
      return i + 1;
    }
  }
  return std::nullopt;
}

double bytes_in(const RunHistory& run, std::size_t rounds) {
  double sum = 0;
  for (const char* name : {"bytes_down", "bytes_up"}) {
    const Rounds bytes = needed_column(run, name);
    for (std::size_t i = 0; i < rounds; ++i) {
      sum += value_of_round(bytes, i, name, "round " + std::to_string(i + 1));
    }
  }
  return sum;
}

}  // namespace

Better better_end(const std::string& column) {
  if (column == "clients_accuracy_std") return Better::lower;  // the same for everybody
  if (column.starts_with("clients_accuracy_")) return Better::higher;
  if (ends_with_any(column, {"_accuracy", "_f1", "_auroc"})) return Better::higher;
  if (column.ends_with("_loss") || column.starts_with("seconds") || column.starts_with("bytes_")) {
    return Better::lower;
  }
  return Better::neither;
}

Better RunMetric::better() const {
  return kind == Kind::column ? better_end(column) : Better::lower;
}

std::vector<std::string> RunMetric::columns() const {
  std::vector<std::string> names;
  if (kind != Kind::bytes) names.push_back(column);
  if (kind == Kind::bytes || kind == Kind::bytes_to) {
    names.insert(names.end(), {"bytes_down", "bytes_up"});
  }
  return names;
}

RunMetric parse_metric(const std::string& text) {
  if (text == "bytes") return {.kind = RunMetric::Kind::bytes, .column = {}, .target = 0};
  const auto colon = text.find(':');
  const std::string kind = text.substr(0, colon);
  const std::string rest = colon == std::string::npos ? "" : text.substr(colon + 1);
  RunMetric metric{.kind = RunMetric::Kind::column, .column = text, .target = 0};
  if (kind == "rounds-to" || kind == "bytes-to") {
    metric.kind = kind == "rounds-to" ? RunMetric::Kind::rounds_to : RunMetric::Kind::bytes_to;
    return parse_target(metric, kind, text, rest);
  }
  if (colon != std::string::npos) {
    throw OptionError(config::unknown_text("metric", kind + ":", "", {"rounds-to:", "bytes-to:"}));
  }
  return metric;
}

MetricAt parse_at(const std::string& text) {
  if (text == "final") return {};
  if (text == "best") return {.kind = MetricAt::Kind::best, .last = 0};
  if (text.starts_with("last:")) {
    const auto last = number_of<std::int64_t>(text.substr(5));
    if (last && *last >= 1) return {.kind = MetricAt::Kind::last, .last = *last};
    throw OptionError("'" + text + "': wanted last:N with N >= 1, as last:10");
  }
  throw OptionError(config::unknown_text("round", text, "", {"final", "best", "last:N"}));
}

std::string best_criterion(const RunHistory& run) {
  const Value* section = run.settings.find("checkpoint");
  const Table* checkpoint = section ? section->get<Table>() : nullptr;
  const Value* best = checkpoint ? checkpoint->find("best") : nullptr;
  const std::string* name = best ? best->get<std::string>() : nullptr;
  return name ? *name : "val_accuracy";
}

Measured measure(const RunHistory& run, const RunMetric& metric, const MetricAt& at) {
  const auto all = static_cast<std::size_t>(run.finished);
  if (metric.kind == RunMetric::Kind::column) return {value_at(run, metric.column, at), 0};
  if (metric.kind == RunMetric::Kind::bytes) return {bytes_in(run, all), 0};
  const auto rounds =
      rounds_to(needed_column(run, metric.column), better_end(metric.column), metric.target);
  const auto amount = [&](std::size_t count) {
    return metric.kind == RunMetric::Kind::rounds_to ? static_cast<double>(count)
                                                     : bytes_in(run, count);
  };
  if (rounds) return {amount(*rounds), 0};
  return {std::numeric_limits<double>::infinity(), amount(all)};
}

}  // namespace fedvg
