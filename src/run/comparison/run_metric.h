#pragma once

#include <cstdint>
#include <limits>
#include <string>
#include <vector>

#include "run/comparison/run_history.h"

namespace fedvg {

/// Which end of a column is better; neither for what is no merit (weights, clients).
enum class Better { higher, lower, neither };
Better better_end(const std::string& column);

/// What is compared: one number for each run.
struct RunMetric {
  enum class Kind {
    column,     ///< of rounds.csv, at some round
    rounds_to,  ///< the first round whose `column` reaches `target`
    bytes,      ///< sent in both directions, in the whole run
    bytes_to    ///< likewise, until `column` reaches `target`
  };
  Kind kind = Kind::column;
  std::string column;
  double target = 0;

  bool has_target() const { return kind == Kind::rounds_to || kind == Kind::bytes_to; }
  /// Few rounds and few bytes are good.
  Better better() const;
  /// Columns of rounds.csv that it needs.
  std::vector<std::string> columns() const;
};

/// COLUMN, "rounds-to:0.8", "rounds-to:val_accuracy:0.8", "bytes", "bytes-to:0.8",
/// "bytes-to:COLUMN:0.8". Whether there is such a column is not known here. Throws OptionError.
RunMetric parse_metric(const std::string& text);

/// At which round a column counts.
struct MetricAt {
  enum class Kind { final, best, last };
  Kind kind = Kind::final;
  std::int64_t last = 0;  ///< rounds that the mean is over
};

/// "final", "best", "last:N". Throws OptionError.
MetricAt parse_at(const std::string& text);

/// The column that says which round of a run is best: [checkpoint] best, else val_accuracy.
std::string best_criterion(const RunHistory& run);

/// What a run comes to.
struct Measured {
  double value = 0;  ///< infinity: it never got there
  double limit = 0;  ///< then the rounds, or bytes, that did not suffice
  bool reached() const { return value < std::numeric_limits<double>::infinity(); }
};

/// `at` is for Kind::column only. A column counts as reached at the first round on the better
/// side of the target; a best round is the first of equal ones, and none is best whose val_loss is
/// not finite. Throws DataError saying why there is no such number: a column that is not there, not
/// measured, not finite.
Measured measure(const RunHistory& run, const RunMetric& metric, const MetricAt& at);

}  // namespace fedvg
