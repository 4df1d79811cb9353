#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>

#include "run/checkpoints/best_round.h"
#include "run/run_folder.h"
#include "run/run_summary.h"

namespace fedvg {

/// What a run knows between two rounds beside the federation's own state: the rest of a checkpoint.
struct RunProgress {
  TableContents tables;
  /// The last round where a stop came before it was evaluated: it is in no table yet.
  std::optional<RoundResult> unevaluated;
  RunSummary::State summary;
  BestRound::State best;
  std::optional<Evaluation> last_test;        ///< of the last round, where it was measured
  std::int64_t model_round = 0;               ///< that the global model has behind it
  double learning_rate = 0;                   ///< of the last round
  std::set<std::string> warned_of_loss;       ///< on which sets
  std::map<std::string, std::string> inputs;  ///< run_inputs.h
  /// On what the rounds ran: other loops round otherwise.
  std::string kernels, memory_format, libtorch, device, processor;
};

/// As JSON.
std::string text_of(const RunProgress& progress);
/// Throws DataError when it is not what text_of() makes.
RunProgress progress_from(const std::string& text);

}  // namespace fedvg
