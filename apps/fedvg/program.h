#pragma once

#include "run/malloc_settings.h"

namespace fedvg {

/// The program `fedvg`: reads the command line, carries the command out, prints errors as
/// "fedvg: error: …", one line each, and returns the exit code: 0, usage or configuration
/// 2, data 3, run 4, internal fault 70, interrupted 130.
int run_program(int argc, const char* const* argv, const MallocSettings& malloc);

}  // namespace fedvg
