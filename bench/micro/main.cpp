// fedvg-micro: single operations of a round by Google Benchmark, on one thread, with malloc as
// the program fedvg sets it. --benchmark_filter=REGEX chooses, --help shows the options.
// Names end in the instruction set of the loops; aten are libtorch's own operators.

#include <ATen/Parallel.h>
#include <benchmark/benchmark.h>

#include "run/malloc_settings.h"

int main(int count, char** arguments) {
  fedvg::tune_malloc();
  at::set_num_threads(1);
  benchmark::Initialize(&count, arguments);
  if (benchmark::ReportUnrecognizedArguments(count, arguments)) return 2;
  benchmark::RunSpecifiedBenchmarks();
  benchmark::Shutdown();
  return 0;
}
