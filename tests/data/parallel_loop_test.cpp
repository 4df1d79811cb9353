#include "data/parallel_loop.h"

#include <algorithm>
#include <atomic>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

#include "data/testing.h"

namespace fedvg {
namespace {

using testing::message_of;

TEST(ParallelLoop, CallsEachOnce) {
  std::vector<std::atomic<int>> calls(1000);
  parallel_loop(1000, [&](std::int64_t i) { ++calls[static_cast<std::size_t>(i)]; });
  EXPECT_TRUE(std::ranges::all_of(calls, [](const auto& n) { return n == 1; }));
  EXPECT_NO_THROW(parallel_loop(0, [](std::int64_t) { throw std::runtime_error("called"); }));
}

TEST(ParallelLoop, TheFirstFaultComesOut) {
  for (int repeat = 0; repeat < 20; ++repeat) {
    std::atomic<int> calls{0};
    EXPECT_EQ(message_of<DataError>([&] {
                parallel_loop(100'000, [&](std::int64_t i) {
                  ++calls;
                  if (i >= 10) throw DataError("fault " + std::to_string(i));
                });
              }),
              "fault 10");
    EXPECT_LT(calls, 100);  // no new ones once a fault was seen
  }
}

TEST(ParallelLoop, ProgressIsCalledInTheCallingThread) {
  const auto caller = std::this_thread::get_id();
  std::atomic<bool> told{false};
  parallel_loop(
      4,
      [&](std::int64_t) {
        while (!told) std::this_thread::yield();
      },
      [&](std::int64_t done, std::int64_t total) {
        EXPECT_EQ(std::this_thread::get_id(), caller);
        EXPECT_LE(done, total);
        EXPECT_EQ(total, 4);
        told = true;
      });
  EXPECT_TRUE(told);
}

TEST(ParallelLoop, ProgressMayStopIt) {
  std::atomic<bool> stopped{false};
  EXPECT_THROW(parallel_loop(
                   1'000'000'000,
                   [&](std::int64_t) {
                     if (stopped) std::this_thread::yield();
                   },
                   [&](std::int64_t, std::int64_t) {
                     stopped = true;
                     throw DataError("enough");
                   }),
               DataError);
}

}  // namespace
}  // namespace fedvg
