#include "speed/stock_rates.h"

#include <algorithm>
#include <barrier>
#include <numeric>

namespace fedvg {

StockRates::StockRates(const StockModel& model, const StockWork& work, std::size_t threads,
                       double seconds, const std::atomic<bool>& stop)
    : stop_(stop), pool_(threads) {
  for (const auto format : {MemoryFormat::channels_last, MemoryFormat::contiguous}) {
    loops(format).resize(threads);
    // Each thread's memory is first touched by a thread of the pool.
    pool_.run(threads, [&](std::size_t, std::size_t i) {
      loops(format)[i] = make_stock_loop(model, work, format);
    });
  }
  train_ = better(&StockLoop::train, seconds);
  score_ = better(&StockLoop::score, seconds);
  for (const auto format : {MemoryFormat::channels_last, MemoryFormat::contiguous}) {
    if (format != train_ && format != score_) loops(format).clear();
  }
}

double StockRates::rate(MemoryFormat format, Phase phase, double seconds) {
  Loops& all = loops(format);
  std::vector<double> rates(all.size());
  // Every thread has one item: none begins before all are there.
  std::barrier start(static_cast<std::ptrdiff_t>(all.size()));
  pool_.run(all.size(), [&](std::size_t, std::size_t i) {
    start.arrive_and_wait();
    rates[i] = ((*all[i]).*phase)(seconds, stop_);
  });
  return std::accumulate(rates.begin(), rates.end(), 0.0) / static_cast<double>(rates.size());
}

MemoryFormat StockRates::better(Phase phase, double seconds) {
  constexpr int kTries = 3;  // of which the first warms up
  double channels_last = 0, contiguous = 0;
  for (int i = 0; i < kTries; ++i) {
    const double share = seconds / kTries;
    const double first = rate(MemoryFormat::channels_last, phase, share);
    const double second = rate(MemoryFormat::contiguous, phase, share);
    if (i == 0) continue;
    channels_last = std::max(channels_last, first);
    contiguous = std::max(contiguous, second);
  }
  return contiguous > channels_last ? MemoryFormat::contiguous : MemoryFormat::channels_last;
}

}  // namespace fedvg
