#include "run/peak_memory.h"

#include <sys/resource.h>

namespace fedvg {

double peak_megabytes() {
  rusage usage{};
  getrusage(RUSAGE_SELF, &usage);
  return static_cast<double>(usage.ru_maxrss) / 1024;
}

}  // namespace fedvg
