#include "engine/worker_pool.h"

#include <ATen/Parallel.h>
#include <ATen/ops/ones.h>
#include <ATen/ops/sqrt.h>
#include <pthread.h>
#include <sched.h>

#include <system_error>

#include "engine/cores.h"
#include "fedvg/error.h"
#include "kernels/instruction_set.h"

namespace fedvg {
namespace {

/// MKL's vector functions (square root, exponential, ...) look for the processor when the first
/// of them is called, and a second thread that calls one in that instant can read an unfinished
/// answer and run the loops of another processor, with other last bits. So the first call is made
/// while there is one thread.
void let_mkl_find_the_processor() { static const at::Tensor called = at::sqrt(at::ones({16})); }

}  // namespace

WorkerPool::WorkerPool(std::size_t workers, std::size_t threads,
                       const kernels::KernelTable* kernels)
    : kernels_(kernels) {
  at::set_num_threads(static_cast<int>(threads));
  let_mkl_find_the_processor();
  const auto allowed = allowed_cores();
  for (std::size_t i = 0; i < workers; ++i) {
    std::vector<int> cores;
    for (std::size_t j = 0; j < threads; ++j) {
      cores.push_back(allowed[(i * threads + j) % allowed.size()]);
    }
    try {
      threads_.emplace_back([this, i, cores] { work(i, cores); });
    } catch (const std::system_error& error) {
      close();
      throw RunError("worker " + std::to_string(i + 1) + " of " + std::to_string(workers) +
                     " cannot be started: " + error.code().message() +
                     "; take fewer (engine.workers)");
    }
  }
}

WorkerPool::~WorkerPool() { close(); }

void WorkerPool::close() {
  {
    const std::lock_guard lock(mutex_);
    closing_ = true;
  }
  start_.notify_all();
  for (auto& thread : threads_) thread.join();
}

void WorkerPool::run(std::size_t count, const std::function<void(std::size_t, std::size_t)>& job) {
  std::unique_lock lock(mutex_);
  job_ = &job;
  next_ = 0;
  count_ = count;
  failure_ = nullptr;
  start_.notify_all();
  done_.wait(lock, [&] { return next_ >= count_ && busy_ == 0; });
  job_ = nullptr;
  if (failure_) std::rethrow_exception(std::exchange(failure_, nullptr));
}

void WorkerPool::work(std::size_t worker, const std::vector<int>& cores) {
  cpu_set_t set;
  CPU_ZERO(&set);
  for (const int core : cores) CPU_SET(core, &set);
  pthread_setaffinity_np(pthread_self(), sizeof set, &set);
  at::set_num_threads(static_cast<int>(cores.size()));  // OpenMP's setting is per thread
  const kernels::UseKernels use(kernels_);
  std::unique_lock lock(mutex_);
  while (true) {
    start_.wait(lock, [&] { return closing_ || (job_ && next_ < count_); });
    if (closing_) return;
    const std::size_t item = next_++;
    const auto& job = *job_;
    ++busy_;
    lock.unlock();
    std::exception_ptr failure;
    try {
      job(worker, item);
    } catch (...) {
      failure = std::current_exception();
    }
    lock.lock();
    --busy_;
    if (failure) {
      if (!failure_ || item < failed_item_) {
        failure_ = failure;
        failed_item_ = item;
      }
      next_ = count_;
    }
    if (next_ >= count_ && busy_ == 0) done_.notify_all();
  }
}

}  // namespace fedvg
