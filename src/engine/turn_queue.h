#pragma once

#include <condition_variable>
#include <cstddef>
#include <exception>
#include <functional>
#include <map>
#include <mutex>
#include <utility>

namespace fedvg {

/// Hands items to one consumer in the order of their positions, whoever finishes first.
/// At most `window` items wait for their turn; whoever brings a further one waits itself,
/// so memory stays bounded. Positions must be started in increasing order.
template <class Item>
class TurnQueue {
 public:
  TurnQueue(std::size_t window, std::function<void(Item&&)> consume)
      : window_(window), consume_(std::move(consume)) {}

  /// Consumes the item and all that waited for it, or parks it, or waits. false: the queue was
  /// closed meanwhile, and the item is dropped. Throws what the consumer throws, which closes it.
  bool put(std::size_t position, Item&& item) {
    std::unique_lock lock(mutex_);
    ++blocked_;
    turn_.wait(lock, [&] { return closed_ || position <= next_ + window_; });
    --blocked_;
    if (closed_) return false;
    waiting_.emplace(position, std::move(item));
    try {
      for (auto first = waiting_.begin(); first != waiting_.end() && first->first == next_;
           first = waiting_.begin()) {
        Item due = std::move(first->second);
        waiting_.erase(first);
        consume_(std::move(due));
        ++next_;
      }
    } catch (...) {
      closed_ = true;
      turn_.notify_all();
      throw;
    }
    turn_.notify_all();
    return true;
  }

  /// Wakes everybody who waits.
  void close() {
    const std::lock_guard lock(mutex_);
    closed_ = true;
    turn_.notify_all();
  }

  /// Who waits in put() now.
  std::size_t blocked() const {
    const std::lock_guard lock(mutex_);
    return blocked_;
  }

 private:
  std::size_t window_;
  std::function<void(Item&&)> consume_;
  mutable std::mutex mutex_;
  std::condition_variable turn_;
  std::map<std::size_t, Item> waiting_;
  std::size_t next_ = 0, blocked_ = 0;
  bool closed_ = false;
};

}  // namespace fedvg
