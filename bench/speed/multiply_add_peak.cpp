#include "speed/multiply_add_peak.h"

#include <algorithm>
#include <chrono>
#include <utility>
#include <vector>

#include "engine/worker_pool.h"
#include "kernels/instruction_set.h"

namespace fedvg {

std::optional<double> multiply_add_peak(double seconds) {
  const kernels::KernelTable* table = kernels::kernels_of("auto");
  if (!table) return std::nullopt;
  double best = 0;
  WorkerPool pool(1);
  pool.run(1, [&](std::size_t, std::size_t) {
    using Clock = std::chrono::steady_clock;
    constexpr std::int64_t kRounds = 1'000'000;  // some milliseconds
    std::vector<float> numbers(kernels::kMultiplyAddNumbers, 0.75F);
    const auto begin = Clock::now();
    for (auto now = begin; now - begin < std::chrono::duration<double>(seconds);) {
      const std::int64_t done = table->multiply_add(kRounds, numbers.data());
      const auto before = std::exchange(now, Clock::now());
      const double elapsed = std::chrono::duration<double>(now - before).count();
      best = std::max(best, 2 * static_cast<double>(done) / elapsed);
    }
  });
  return best;
}

}  // namespace fedvg
