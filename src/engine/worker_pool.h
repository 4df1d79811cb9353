#pragma once

#include <condition_variable>
#include <cstddef>
#include <exception>
#include <functional>
#include <mutex>
#include <thread>
#include <vector>

#include "kernels/kernel_table.h"

namespace fedvg {

/// Threads that each sit on a core of the process, or on some, and keep libtorch to as many
/// threads there. More threads than cores share them. Whoever makes the pool waits while it works,
/// and is kept to as many threads as one of its workers: what it does in between, such as the
/// server's step, takes no other cores and does not depend on how many there are.
class WorkerPool {
 public:
  /// `kernels`: the loops that operators use in these threads; null: libtorch's.
  /// `threads`: of libtorch in each worker, on as many cores. Throws RunError when the system
  /// gives no more threads.
  explicit WorkerPool(std::size_t workers, std::size_t threads = 1,
                      const kernels::KernelTable* kernels = nullptr);
  ~WorkerPool();
  WorkerPool(const WorkerPool&) = delete;
  WorkerPool& operator=(const WorkerPool&) = delete;

  std::size_t size() const { return threads_.size(); }

  /// Calls job(worker, item) for items 0 … count-1, handed out in order as workers come
  /// free; returns when all are done. After a job has thrown no further item starts, and
  /// the exception of the smallest failed item is rethrown here.
  void run(std::size_t count, const std::function<void(std::size_t, std::size_t)>& job);

 private:
  void work(std::size_t worker, const std::vector<int>& cores);
  /// Ends all threads.
  void close();

  const kernels::KernelTable* kernels_;
  std::mutex mutex_;
  std::condition_variable start_, done_;
  const std::function<void(std::size_t, std::size_t)>* job_ = nullptr;
  std::size_t next_ = 0, count_ = 0, busy_ = 0;
  std::size_t failed_item_ = 0;
  std::exception_ptr failure_;
  bool closing_ = false;
  std::vector<std::thread> threads_;
};

}  // namespace fedvg
