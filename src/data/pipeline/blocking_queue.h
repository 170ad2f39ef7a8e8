// A first-in, first-out queue between threads.
#pragma once

#include <chrono>
#include <condition_variable>
#include <deque>
#include <mutex>
#include <optional>
#include <utility>

namespace cpt {

// Thread-safe. It has no limit of its own: the pipelines that use it recycle a fixed number of chunks.
template <class T>
class BlockingQueue {
 public:
  // Drops the item if the queue is closed.
  void push(T item) {
    {
      const std::scoped_lock lock(mutex_);
      if (!closed_) items_.push_back(std::move(item));
    }
    changed_.notify_one();
  }
  // Ends the input: calls of pop() return nothing once they have taken the rest.
  void close() {
    {
      const std::scoped_lock lock(mutex_);
      closed_ = true;
    }
    changed_.notify_all();
  }
  // As close(), and drops the rest.
  void abandon() {
    {
      const std::scoped_lock lock(mutex_);
      closed_ = true;
      items_.clear();
    }
    changed_.notify_all();
  }

  // Waits for the next item; nothing once the queue is closed and empty.
  std::optional<T> pop() {
    std::unique_lock lock(mutex_);
    changed_.wait(lock, [this] { return closed_ || !items_.empty(); });
    return take();
  }
  // The same, but also returns nothing if no item comes within `most`.
  std::optional<T> pop_within(std::chrono::milliseconds most) {
    std::unique_lock lock(mutex_);
    changed_.wait_for(lock, most, [this] { return closed_ || !items_.empty(); });
    return take();
  }

 private:
  std::optional<T> take() {
    if (items_.empty()) return std::nullopt;
    std::optional<T> item(std::move(items_.front()));
    items_.pop_front();
    return item;
  }

  std::mutex mutex_;
  std::condition_variable changed_;
  std::deque<T> items_;
  bool closed_ = false;
};

}  // namespace cpt
