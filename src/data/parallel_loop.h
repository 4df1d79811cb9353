#pragma once

#include <cstdint>
#include <functional>

namespace fedvg {

/// Calls body(i) once for each i in [0, count), from several threads (one a core, at most 8),
/// and returns when all are done. Calls are taken up in the order of i; when one throws, no
/// more are, and the exception of the smallest i that threw comes out: always the same one,
/// whatever the number of threads. `progress`, when given, is called now and then in the
/// calling thread with the calls that are done; it may throw.
void parallel_loop(std::int64_t count, const std::function<void(std::int64_t)>& body,
                   const std::function<void(std::int64_t done, std::int64_t total)>& progress = {});

}  // namespace fedvg
