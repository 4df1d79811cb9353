#pragma once

#include <cstdio>
#include <exception>
#include <span>
#include <string>
#include <vector>

#include "config/overrides.h"
#include "run/configuration.h"
#include "run/malloc_settings.h"

// What the small programs that measure one thing have in common: NAME CONFIG.toml … [KEY=VALUE]….

namespace fedvg {

/// The file as KEY=VALUE `settings` of the command line, and then the program's `own`, change it.
inline Configuration configuration_of(const char* file, std::span<char* const> settings,
                                      std::span<const char* const> own) {
  std::vector<config::Override> overrides;
  for (const char* setting : settings) overrides.push_back(config::read_override(setting));
  for (const char* setting : own) overrides.push_back(config::read_override(setting));
  return load_configuration(file, overrides);
}

/// The whole of main: 2 without the `least` number of arguments that `usage` ("NAME CONFIG.toml")
/// names, 1 after an exception, whose message is printed.
inline int run_measuring_program(int argc, char** argv, int least, const std::string& usage,
                                 void (*measure)(std::span<char* const> arguments)) {
  tune_malloc();
  if (argc <= least) {
    std::fprintf(stderr, "usage: %s [KEY=VALUE]...\n", usage.c_str());
    return 2;
  }
  try {
    measure(std::span(argv + 1, argv + argc));
  } catch (const std::exception& error) {
    std::fprintf(stderr, "%s: %s\n", usage.substr(0, usage.find(' ')).c_str(), error.what());
    return 1;
  }
  return 0;
}

}  // namespace fedvg
