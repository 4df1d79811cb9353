#include "run/malloc_settings.h"

#include <initializer_list>

#ifdef __GLIBC__
#include <malloc.h>
#endif

namespace fedvg {

MallocSettings tune_malloc() {
  MallocSettings accepted;
#ifdef __GLIBC__
  constexpr int kMegabyte = 1 << 20;
  // Older versions of glibc take a threshold of 32 MB at most.
  for (const int threshold : {1024 * kMegabyte, 32 * kMegabyte}) {
    if (mallopt(M_MMAP_THRESHOLD, threshold) == 1) {
      accepted.mmap_threshold = threshold;
      break;
    }
  }
  constexpr int kTrim = 2047 * kMegabyte;  // an int: just below 2 GB
  if (mallopt(M_TRIM_THRESHOLD, kTrim) == 1) accepted.trim_threshold = kTrim;
  constexpr int kPad = 64 * kMegabyte;
  if (mallopt(M_TOP_PAD, kPad) == 1) accepted.top_pad = kPad;
#endif
  return accepted;
}

}  // namespace fedvg
