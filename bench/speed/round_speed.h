#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "engine/federation.h"

namespace fedvg {

/// Seconds of a round by phase. Training and scoring: the workers' time / workers, so what they
/// wait for each other at its end is in `other`, with drawing batches, sending and starting.
struct PhaseSeconds {
  double train = 0, score = 0, combine = 0, evaluate = 0, other = 0;
  double round = 0;  ///< wall time of all of it
};

/// `evaluate`: seconds of the evaluation after the round.
PhaseSeconds phase_seconds(const RoundRecord& record, double evaluate);

/// Images that a participant trained on, passes counted; a last batch of one image is skipped
/// by models with BatchNorm.
std::int64_t images_trained(const ClientRecord& client, const TrainOptions& train);
std::int64_t images_trained(const RoundRecord& record, const TrainOptions& train);
/// Images of D_val that a round's participants were scored on, together.
std::int64_t images_scored(const RoundRecord& record);

/// Images per second and core of one phase, in one repetition.
struct Rates {
  double engine = 0;
  std::optional<double> stock;  ///< measured in the same repetition
};

/// What repetitions say of one phase. Nothing of the stock loop where it was not measured.
struct PhaseSpeed {
  double images_per_second_core = 0;
  std::optional<double> stock;
  std::optional<double> ratio, ratio_least, ratio_most;  ///< engine / stock, by repetition
};

/// Threads that each worker could have beside its one, where a round has fewer participants, or
/// the memory fewer workers, than there are cores; absent: no core is left over, or the workers
/// have threads already. `asked`: engine.workers, which limits the cores; 0: all of them.
std::optional<std::int64_t> threads_left(std::int64_t workers, std::int64_t threads,
                                         std::int64_t asked, std::int64_t cores);

/// Medians; `repetitions` is not empty.
PhaseSpeed speed_of(const std::vector<Rates>& repetitions);
PhaseSeconds medians_of(const std::vector<PhaseSeconds>& repetitions);

}  // namespace fedvg
