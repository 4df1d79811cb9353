#include "data/parallel_loop.h"

#include <algorithm>
#include <atomic>
#include <chrono>
#include <condition_variable>
#include <exception>
#include <mutex>
#include <stop_token>
#include <thread>
#include <vector>

namespace fedvg {
namespace {

class Loop {
 public:
  Loop(std::int64_t count, const std::function<void(std::int64_t)>& body)
      : count_(count), body_(body) {}

  void work(const std::stop_token& stop) {
    while (!stop.stop_requested() && !failed_) {
      const std::int64_t index = next_++;
      if (index >= count_) break;
      try {
        body_(index);
      } catch (...) {
        const std::lock_guard lock(mutex_);
        failed_ = true;
        if (!error_ || index < error_index_)
          error_ = std::current_exception(), error_index_ = index;
      }
      ++done_;
    }
    const std::lock_guard lock(mutex_);
    ++idle_;
    changed_.notify_one();
  }

  // Until `workers` threads have left work(), or a short while.
  bool wait(std::int64_t workers) {
    constexpr auto kPause = std::chrono::milliseconds(100);
    std::unique_lock lock(mutex_);
    return changed_.wait_for(lock, kPause, [&] { return idle_ == workers; });
  }

  std::int64_t done() const { return done_; }
  void rethrow() const {
    if (error_) std::rethrow_exception(error_);
  }

 private:
  const std::int64_t count_;
  const std::function<void(std::int64_t)>& body_;
  std::atomic<std::int64_t> next_{0}, done_{0};
  std::atomic<bool> failed_{false};
  std::mutex mutex_;
  std::condition_variable changed_;
  std::int64_t idle_ = 0;
  std::exception_ptr error_;
  std::int64_t error_index_ = 0;
};

}  // namespace

void parallel_loop(std::int64_t count, const std::function<void(std::int64_t)>& body,
                   const std::function<void(std::int64_t, std::int64_t)>& progress) {
  constexpr std::int64_t kMostThreads = 8;
  const std::int64_t cores = std::max(1u, std::thread::hardware_concurrency());
  const std::int64_t workers = std::min({count, cores, kMostThreads});
  Loop loop(count, body);
  std::vector<std::jthread> threads;  // stopped and joined when progress throws
  for (std::int64_t i = 0; i < workers; ++i) {
    threads.emplace_back([&loop](const std::stop_token& stop) { loop.work(stop); });
  }
  while (!loop.wait(workers)) {
    if (progress) progress(loop.done(), count);
  }
  threads.clear();
  loop.rethrow();
}

}  // namespace fedvg
