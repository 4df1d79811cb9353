#pragma once

#include <cstdint>
#include <span>
#include <vector>

// How alike a model serves the clients, without a tensor type.

namespace fedvg {

/// What a model gets right of one client's samples.
struct ClientTally {
  std::int64_t right = 0, samples = 0;
};

/// Accuracies of a model on each client's own samples, or of each client's own model on them.
struct ClientFigures {
  std::int64_t clients = 0;  ///< that have samples; the others count nowhere
  double mean = 0;           ///< over clients, each counts the same
  double weighted = 0;       ///< by samples: the accuracy on all of them together
  double worst = 0;          ///< mean over worst_clients(clients), those of the lowest accuracy
  double deviation = 0;      ///< standard deviation; divisor `clients`, for they are all there are
  bool own_models = false;   ///< each client's own model, not the global one
};

/// A tenth of them, rounded up.
std::int64_t worst_clients(std::int64_t clients);

/// All figures are 0 when no client has samples.
ClientFigures figures_of(std::span<const ClientTally> clients);

}  // namespace fedvg
