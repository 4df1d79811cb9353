#pragma once

#include <cstdint>

namespace fedvg {

/// glibc's malloc, as set for training: see tune_malloc().
struct MallocSettings {
  std::int64_t mmap_threshold = 0;  ///< bytes; larger blocks come from the system each time
  std::int64_t trim_threshold = 0;  ///< bytes free at the top before some go back
  std::int64_t top_pad = 0;         ///< bytes asked for beyond the need
};

/// Keeps freed memory in the process. Training frees and takes back the same large
/// buffers each step; with glibc's defaults they return to the system in between, and
/// the page faults on the way back cost training a factor of 1.45. To be called first
/// thing in main, before threads and libtorch allocate.
/// Returns what was accepted; 0 where malloc is not glibc's or refused.
MallocSettings tune_malloc();

}  // namespace fedvg
