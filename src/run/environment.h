#pragma once

#include <cstdint>
#include <string>

#include "engine/federation.h"
#include "run/malloc_settings.h"

namespace fedvg {

/// What a run's numbers and speed depend on beside its configuration.
struct Environment {
  std::string processor;   ///< as /proc/cpuinfo names it; "unknown" where it does not
  std::int64_t cores = 0;  ///< that this process may use
  std::string system;      ///< kernel and its version
  std::string libc, compiler;
  MallocSettings malloc;
};

/// Environment::processor.
std::string processor_name();

Environment environment_here(const MallocSettings& malloc);

/// environment.json.
std::string environment_text(const Environment& environment, const FederationInfo& federation);

}  // namespace fedvg
