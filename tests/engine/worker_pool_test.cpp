#include "engine/worker_pool.h"

#include <ATen/Parallel.h>
#include <ATen/ops/ones.h>
#include <dlfcn.h>
#include <gtest/gtest.h>
#include <sched.h>

#include <atomic>
#include <set>
#include <stdexcept>
#include <thread>

#include "engine/cores.h"

// Stands before MKL's own in this program, which is called after it has taken note.
namespace {
std::atomic<int> square_roots = 0;
std::thread::id first_to_take_one;
}  // namespace

extern "C" void vmsSqrt(int count, const float* from, float* to, long long mode) {
  if (square_roots++ == 0) first_to_take_one = std::this_thread::get_id();
  using Function = void(int, const float*, float*, long long);
  reinterpret_cast<Function*>(dlsym(RTLD_NEXT, "vmsSqrt"))(count, from, to, mode);
}

namespace fedvg {
namespace {

// Otherwise results of a first round differ in last bits, once in some thousand starts.
TEST(WorkerPool, CallsMklOnceBeforeThereAreSeveralThreads) {
  if (dlsym(RTLD_NEXT, "vmsSqrt") == nullptr) GTEST_SKIP() << "a libtorch without MKL";
  WorkerPool pool(2);
  pool.run(20, [](std::size_t, std::size_t) { at::ones({16}).sqrt(); });
  EXPECT_GT(square_roots, 20);
  EXPECT_EQ(first_to_take_one, std::this_thread::get_id());
}

TEST(WorkerPool, RunsEveryItemOnce) {
  WorkerPool pool(3);
  std::vector<std::atomic<int>> runs(100);
  pool.run(100, [&](std::size_t, std::size_t item) { ++runs[item]; });
  for (const auto& count : runs) EXPECT_EQ(count, 1);
  pool.run(0, [&](std::size_t, std::size_t) { FAIL(); });
}

TEST(WorkerPool, PinsEachWorkerToAnAllowedCore) {
  const auto cores = allowed_cores();
  WorkerPool pool(cores.size() + 1);
  pool.run(20, [&](std::size_t worker, std::size_t) {
    cpu_set_t set;
    CPU_ZERO(&set);
    ASSERT_EQ(sched_getaffinity(0, sizeof set, &set), 0);
    EXPECT_EQ(CPU_COUNT(&set), 1);
    EXPECT_TRUE(CPU_ISSET(cores[worker % cores.size()], &set));
  });
}

TEST(WorkerPool, GivesEachWorkerTheCoresOfItsThreads) {
  const auto cores = allowed_cores();
  WorkerPool pool(2, 2);
  pool.run(2, [&](std::size_t worker, std::size_t) {
    cpu_set_t set;
    CPU_ZERO(&set);
    ASSERT_EQ(sched_getaffinity(0, sizeof set, &set), 0);
    EXPECT_EQ(CPU_COUNT(&set), static_cast<int>(std::min<std::size_t>(2, cores.size())));
    EXPECT_TRUE(CPU_ISSET(cores[2 * worker % cores.size()], &set));
    EXPECT_EQ(at::get_num_threads(), 2);
  });
}

// U61: the server's step is taken by whoever made the pool.
TEST(WorkerPool, KeepsItsMakerToTheThreadsOfAWorker) {
  for (const std::size_t threads : {2U, 1U}) {
    const WorkerPool pool(3, threads);
    EXPECT_EQ(at::get_num_threads(), static_cast<int>(threads));
  }
}

TEST(WorkerPool, RethrowsTheFirstItemsFailureAndStartsNoMore) {
  WorkerPool pool(1);
  int started = 0;
  const auto failing = [&](std::size_t, std::size_t item) {
    ++started;
    if (item >= 3) throw std::runtime_error("item " + std::to_string(item));
  };
  try {
    pool.run(10, failing);
    FAIL();
  } catch (const std::runtime_error& problem) {
    EXPECT_STREQ(problem.what(), "item 3");
  }
  EXPECT_EQ(started, 4);
  pool.run(2, [&](std::size_t, std::size_t) { ++started; });  // still usable
  EXPECT_EQ(started, 6);
}

}  // namespace
}  // namespace fedvg
