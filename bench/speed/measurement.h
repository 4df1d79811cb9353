#pragma once

#include <atomic>
#include <cstdint>
#include <optional>
#include <string>

#include "run/configuration.h"
#include "run/console.h"
#include "run/environment.h"
#include "speed/round_speed.h"
#include "speed/stock_loop.h"

namespace fedvg {

struct SpeedRequest {
  Configuration configuration;
  std::string workload;     ///< its name
  std::int64_t rounds = 5;  ///< measured, after one that warms up
  std::string device = "cpu";
  MallocSettings malloc;
};

/// The same rounds with engine.threads above 1, where cores have no worker.
struct ThreadsTrial {
  std::int64_t workers = 0, threads = 0;  ///< with which they were taken
  double seconds = 0, seconds_one = 0;    ///< medians of a round's training, scoring and step,
                                          ///< with these threads and with one
  double ratio() const { return seconds_one / seconds; }
};

/// How fast a workload's rounds are, and the stock loop in between.
struct SpeedMeasurement {
  std::string workload, data;
  std::int64_t rounds = 0;
  Environment environment;
  FederationInfo federation;
  PhaseSeconds seconds;             ///< medians
  std::optional<PhaseSpeed> train;  ///< absent: nobody trained
  std::optional<PhaseSpeed> score;  ///< absent: no gradient of D_val is taken
  std::optional<MemoryFormat> train_format, score_format;  ///< of the stock loop
  std::int64_t train_batch = 0, score_batch = 0;
  double peak_mb = 0;                              ///< before the stock loop was there
  std::optional<double> multiply_add_peak;         ///< operations per second and core
  std::optional<double> train_share, score_share;  ///< of it, of the engine's rates
  std::optional<ThreadsTrial> threads;             ///< absent: every core has a worker
};

/// One round that warms up, then in each repetition a round, its evaluation, and the stock loop
/// for about as long as the engine trained and scored. Where cores have no worker, as many rounds
/// with engine.threads above 1 follow, each beside one as it was. Notes and progress go to
/// `console`. Throws what Experiment throws, and Interrupted once `stop` is true.
SpeedMeasurement measure_speed(SpeedRequest request, Console& console,
                               const std::atomic<bool>& stop);

}  // namespace fedvg
