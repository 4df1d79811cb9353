#pragma once

#include "engine/federation.h"
#include "fedvg/model.h"

namespace fedvg {

/// How many workers a federation has, into info.workers, with notes where they are others than
/// were asked for, or more than cores: engine.workers, or as many as there are cores for; no more
/// than a round has participants; by default no more than fit into memory with their copies of
/// the model, of `model_bytes`. One where the network's draws need it. Reads info.score_parts.
/// Throws OptionError when the asked-for ones cannot be.
void settle_workers(const FederationSetup& setup, const Model& model, double model_bytes,
                    FederationInfo& info);

}  // namespace fedvg
