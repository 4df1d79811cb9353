#pragma once

#include <atomic>
#include <cstddef>
#include <memory>
#include <vector>

#include "engine/worker_pool.h"
#include "speed/stock_loop.h"

namespace fedvg {

/// The stock loop on as many pinned threads as the engine keeps busy, all at once, without any
/// kernels of our own.
class StockRates {
 public:
  using Phase = double (StockLoop::*)(double seconds, const std::atomic<bool>& stop);

  /// Tries both memory formats for some `seconds` each and keeps the faster by phase.
  StockRates(const StockModel& model, const StockWork& work, std::size_t threads, double seconds,
             const std::atomic<bool>& stop);

  MemoryFormat train_format() const { return train_; }
  MemoryFormat score_format() const { return score_; }
  /// Images per second and core: mean over the threads.
  double train(double seconds) { return rate(train_, &StockLoop::train, seconds); }
  double score(double seconds) { return rate(score_, &StockLoop::score, seconds); }

 private:
  using Loops = std::vector<std::unique_ptr<StockLoop>>;  ///< one a thread

  Loops& loops(MemoryFormat format) {
    return format == MemoryFormat::channels_last ? channels_last_ : contiguous_;
  }
  double rate(MemoryFormat format, Phase phase, double seconds);
  MemoryFormat better(Phase phase, double seconds);

  const std::atomic<bool>& stop_;
  WorkerPool pool_;
  Loops channels_last_, contiguous_;
  MemoryFormat train_ = MemoryFormat::channels_last, score_ = MemoryFormat::channels_last;
};

}  // namespace fedvg
