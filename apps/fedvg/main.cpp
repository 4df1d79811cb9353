#include "program.h"
#include "run/malloc_settings.h"

int main(int argc, char** argv) {
  // First of all: what is allocated before it does not count (malloc_settings.h).
  const auto malloc = fedvg::tune_malloc();
  return fedvg::run_program(argc, argv, malloc);
}
