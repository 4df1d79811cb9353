#pragma once

#include <cstdint>
#include <string>

#include "run/experiment.h"

namespace fedvg {

/// What a run will hold, in bytes, beside libtorch itself and the activations of a batch.
struct MemoryEstimate {
  std::int64_t model = 0;    ///< one copy of parameters and buffers
  std::int64_t parts = 1;    ///< sums that the weighting keeps
  std::int64_t waiting = 0;  ///< finished updates that may wait, or that a combiner keeps
  std::int64_t workers = 0;  ///< each with a model of its own
  std::int64_t data = 0;     ///< images and labels, held once
  std::int64_t states = 0;   ///< of clients, once all have taken part, in memory
  std::int64_t on_disk = 0;  ///< of clients, beyond engine.state_memory; not in the total

  std::int64_t total() const { return (parts + waiting + workers) * model + data + states; }
  /// One line, with the arithmetic.
  std::string text() const;
};

MemoryEstimate memory_estimate(const Experiment& experiment);

/// "47.0 MB"
std::string bytes_text(std::int64_t bytes);

}  // namespace fedvg
