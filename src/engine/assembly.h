#pragma once

#include <memory>
#include <string>

#include "engine/federation.h"
#include "engine/federation_samples.h"
#include "engine/round_driver.h"

namespace fedvg {

/// A federation made of its setup: samples, and what trains, scores and combines on them.
struct Assembly {
  FederationInfo info;
  FederationSamples samples;
  std::unique_ptr<RoundDriver> driver;
  Line line = Line::federated;
};

/// Checks that the parts of the setup go together and fit the data, machine and device, and
/// builds them. Throws what Federation's constructor throws.
Assembly assemble(const FederatedData& data, FederationSetup setup);

}  // namespace fedvg
