#include "engine/turn_queue.h"

#include <gtest/gtest.h>

#include <atomic>
#include <thread>
#include <vector>

namespace fedvg {
namespace {

/// Puts an item in a thread of its own.
class Putting {
 public:
  Putting(TurnQueue<int>& queue, int item)
      : queue_(queue), thread_([this, item] {
          taken_ = queue_.put(static_cast<std::size_t>(item), int(item));
          is_through_ = true;
        }) {}
  ~Putting() {
    if (thread_.joinable()) thread_.join();
  }
  Putting(const Putting&) = delete;
  Putting& operator=(const Putting&) = delete;

  /// Comes back when it either waits or does not; true: it waits.
  bool waits() const {
    while (!is_through_ && queue_.blocked() == 0) std::this_thread::yield();
    return !is_through_;
  }
  /// What put() said.
  bool taken() {
    thread_.join();
    return taken_;
  }

 private:
  TurnQueue<int>& queue_;
  bool taken_ = false;
  std::atomic<bool> is_through_ = false;
  std::thread thread_;
};

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
  Putting late(queue, 2);
  EXPECT_TRUE(late.waits());
  queue.put(0, 0);
  EXPECT_TRUE(late.taken());
  EXPECT_EQ(seen, (std::vector{0, 1, 2}));
}

TEST(TurnQueue, WakesWhoWaitsWhenItCloses) {
  TurnQueue<int> queue(1, [](int&&) {});
  Putting waiting(queue, 5);
  EXPECT_TRUE(waiting.waits());
  queue.close();
  EXPECT_FALSE(waiting.taken());
  EXPECT_EQ(queue.blocked(), 0U);
}

TEST(TurnQueue, PassesOnWhatTheConsumerThrows) {
  TurnQueue<int> queue(2, [](int&&) { throw std::logic_error("no"); });
  EXPECT_THROW(queue.put(0, 0), std::logic_error);
  EXPECT_FALSE(queue.put(1, 1));
}

}  // namespace
}  // namespace fedvg
