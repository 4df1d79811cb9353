#include "engine/turn_queue.h"

#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <thread>
#include <vector>

namespace fedvg {
namespace {

TEST(TurnQueue, ConsumesInOrderWhoeverComesFirst) {
  std::vector<int> seen;
  TurnQueue<int> queue(4, [&](int&& item) { seen.push_back(item); });
  queue.put(2, 2);
  queue.put(1, 1);
  EXPECT_TRUE(seen.empty());
  queue.put(0, 0);
  queue.put(3, 3);
  EXPECT_EQ(seen, (std::vector{0, 1, 2, 3}));
}

TEST(TurnQueue, MakesAnItemBeyondTheWindowWait) {
  std::vector<int> seen;
  TurnQueue<int> queue(1, [&](int&& item) { seen.push_back(item); });
  queue.put(1, 1);
  std::atomic<bool> entered = false;
  std::thread late([&] {
    queue.put(2, 2);
    entered = true;
  });
  std::this_thread::sleep_for(std::chrono::milliseconds(50));
  EXPECT_FALSE(entered);
  queue.put(0, 0);
  late.join();
  EXPECT_EQ(seen, (std::vector{0, 1, 2}));
}

TEST(TurnQueue, WakesWhoWaitsWhenItCloses) {
  TurnQueue<int> queue(1, [](int&&) {});
  std::thread waiting([&] { EXPECT_FALSE(queue.put(5, 5)); });
  std::this_thread::sleep_for(std::chrono::milliseconds(20));
  queue.close();
  waiting.join();
}

TEST(TurnQueue, PassesOnWhatTheConsumerThrows) {
  TurnQueue<int> queue(2, [](int&&) { throw std::logic_error("no"); });
  EXPECT_THROW(queue.put(0, 0), std::logic_error);
  EXPECT_FALSE(queue.put(1, 1));
}

}  // namespace
}  // namespace fedvg
