#include "store/blob/segment_writer.h"

#include <system_error>
#include <utility>

namespace cpt {

SegmentWriter::~SegmentWriter() {
  {
    const std::scoped_lock lock(mutex_);
    stopping_ = true;
  }
  changed_.notify_all();
  for (std::thread& thread : threads_) thread.join();
}

void SegmentWriter::put(std::vector<std::byte>& raw) {
  if (taken_ > 0 && threads_.size() < most_threads_) start_thread();
  if (!threads_.empty()) return hand_over(raw);
  write_now([&] { return encoder_.encode(raw); });
  raw.clear();
}

void SegmentWriter::put_stored(const SegmentEncoder::Encoded& encoded) {
  write_now([&] { return encoded; });
}

// On the caller's thread.
void SegmentWriter::write_now(const std::function<SegmentEncoder::Encoded()>& encode) {
  try {
    write_in_turn(taken_, encode());
  } catch (...) {
    fail();
  }
  const std::scoped_lock lock(mutex_);
  if (failure_) std::rethrow_exception(failure_);
  ++taken_;
}

// A system that gives no more threads is no reason to write nothing.
void SegmentWriter::start_thread() {
  try {
    threads_.emplace_back([this] { run(); });
  } catch (const std::system_error&) {
    most_threads_ = threads_.size();
  }
}

void SegmentWriter::hand_over(std::vector<std::byte>& raw) {
  {
    std::unique_lock lock(mutex_);
    changed_.wait(lock, [this] { return failure_ || taken_ - segments_.size() <= threads_.size(); });
    if (failure_) std::rethrow_exception(failure_);
    waiting_.push_back({taken_++, std::move(raw)});
    raw.clear();
    if (!spare_.empty()) {
      raw.swap(spare_.back());
      spare_.pop_back();
    }
  }
  changed_.notify_all();
}

std::vector<Segment> SegmentWriter::finish() {
  std::unique_lock lock(mutex_);
  changed_.wait(lock, [this] { return failure_ || segments_.size() == taken_; });
  if (failure_) std::rethrow_exception(failure_);
  return segments_;
}

void SegmentWriter::run() noexcept {
  try {
    SegmentEncoder encoder;
    for (Task task; take(task);) {
      write_in_turn(task.number, encoder.encode(task.raw));
      const std::scoped_lock lock(mutex_);
      task.raw.clear();
      spare_.push_back(std::move(task.raw));
    }
  } catch (...) {
    fail();
  }
}

// False when there is nothing more to do.
bool SegmentWriter::take(Task& task) {
  std::unique_lock lock(mutex_);
  changed_.wait(lock, [this] { return stopping_ || failure_ || !waiting_.empty(); });
  if (stopping_ || failure_) return false;
  task = std::move(waiting_.front());
  waiting_.pop_front();
  return true;
}

// Those before it were taken by other threads, so its turn comes.
void SegmentWriter::write_in_turn(std::uint64_t number, const SegmentEncoder::Encoded& encoded) {
  {
    std::unique_lock lock(mutex_);
    changed_.wait(lock, [&] { return stopping_ || failure_ || segments_.size() == number; });
    if (stopping_ || failure_) return;
  }
  file_.write(encoded.stored);
  {
    const std::scoped_lock lock(mutex_);
    segments_.push_back(encoded.segment);
  }
  changed_.notify_all();
}

// The first failure is the one to tell.
void SegmentWriter::fail() noexcept {
  {
    const std::scoped_lock lock(mutex_);
    if (!failure_) failure_ = std::current_exception();
  }
  changed_.notify_all();
}

}  // namespace cpt
