#include "data/cohorts.h"

#include <algorithm>
#include <string>
#include <vector>

#include "fuzz/memory_file.h"
#include "fuzz/target.h"

namespace fedvg::fuzz {

FEDVG_FUZZ_TARGET(cohorts, bytes) {
  static MemoryFile memory;
  const std::string path = memory.put(bytes);
  const std::vector<std::int64_t> sizes = {3, 0, 1, 5, 2, 0, 1, 1};
  accepts(path, [&] {
    const Cohorts cohorts({.cohorts = path}, sizes, 1);
    for (std::int64_t round = 1; round <= 8; ++round) {
      const IndexList cohort = cohorts.cohort(round);
      require(!cohort.empty() && std::ssize(cohort) <= cohorts.participants(), "a cohort's size");
      const auto takes_part = [&](std::int64_t k) {
        return k >= 0 && k < std::ssize(sizes) && sizes[static_cast<std::size_t>(k)] > 0;
      };
      require(std::ranges::all_of(cohort, takes_part), "a client without samples");
    }
  });
}

}  // namespace fedvg::fuzz
