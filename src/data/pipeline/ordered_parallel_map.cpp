#include "data/pipeline/ordered_parallel_map.h"

#include <algorithm>
#include <system_error>
#include <utility>

#include "cpt/error.h"

namespace cpt {

OrderedParallelMap::OrderedParallelMap(ExampleStream stream, std::size_t threads, Work work, ChunkLimits limits)
    : stream_(std::move(stream)), work_(std::move(work)), limits_(limits), threads_(threads), slots_(slots(threads)) {
  for (std::size_t i = 0; i < slots_.size(); ++i) {
    slots_[i].portion.slot = i;
    slots_[i].portion.batch = stream_.make_batch();
  }
  running_.reserve(threads + 1);
  stream_.on_input_idle([this] {
    if (open_ != nullptr || !caught_up_) hand_over(true);
  });
  try {
    start(threads);
  } catch (const std::system_error& error) {
    stop();
    throw Error(Fault::kFailed,
                "cannot start " + std::to_string(threads) + " threads (" + error.what() + "); use fewer --threads");
  }
}

OrderedParallelMap::~OrderedParallelMap() { stop(); }

void OrderedParallelMap::start(std::size_t threads) {
  running_.emplace_back([this] { read(); });
  for (std::size_t i = 0; i < threads; ++i) running_.emplace_back([this, i] { work(i); });
}

void OrderedParallelMap::stop() {
  stream_.stop();
  {
    const std::scoped_lock lock(mutex_);
    stopping_ = true;
  }
  returned_one_.notify_all();
  filled_one_.notify_all();
  for (std::thread& thread : running_) thread.join();
}

const Chunk* OrderedParallelMap::next() {
  std::unique_lock lock(mutex_);
  if (std::exchange(handed_out_, false)) {
    ++returned_;
    returned_one_.notify_one();
  }
  Slot& slot = slots_[returned_ % slots_.size()];
  worked_one_.wait(lock, [&] { return returned_ < filled_ ? slot.worked : ended_; });
  if (returned_ < filled_) {
    handed_out_ = true;
    return &slot.portion;
  }
  if (failure_) std::rethrow_exception(failure_);
  return nullptr;
}

void OrderedParallelMap::read() {
  std::exception_ptr failure;
  try {
    read_all();
  } catch (...) {
    failure = std::current_exception();
  }
  if (open_ != nullptr) hand_over(false);
  {
    const std::scoped_lock lock(mutex_);
    ended_ = true;
    failure_ = failure;
  }
  filled_one_.notify_all();
  worked_one_.notify_all();
}

void OrderedParallelMap::read_all() {
  Batch line = stream_.make_batch();
  for (bool more = true; more && !stopping_; line.clear()) {
    more = stream_.read(line);
    if (stream_.error_lines() != error_lines_) {
      if (open_ != nullptr) hand_over(false);
      open().error_lines = error_lines_ = stream_.error_lines();
      open_->warnings = stream_.take_warnings();
    }
    if (more) append(line);
  }
}

void OrderedParallelMap::append(const Batch& line) {
  Batch& batch = open().batch;
  for (std::size_t i = 0; i < line.size(); ++i) {
    const ExampleView x = line[i];
    const Batch::Space space =
        batch.extend(x.features.size() - 1, x.label, x.label_hash, x.importance, x.origin);  // the constant comes first
    std::copy(x.features.begin() + 1, x.features.end(), space.features.begin());
    std::copy(x.values.begin() + 1, x.values.end(), space.values.begin());
  }
  const std::uint64_t most = std::min<std::uint64_t>(limits_.examples, 1 + filled_ / threads_);
  if (batch.size() >= most || batch.features() >= limits_.features) hand_over(false);
}

// The portion that is being filled. A new one takes the slot that is given back first.
Chunk& OrderedParallelMap::open() {
  if (open_ != nullptr) return *open_;
  std::unique_lock lock(mutex_);
  returned_one_.wait(lock, [this] { return stopping_ || filled_ - returned_ < slots_.size(); });
  if (stopping_) throw Error(Fault::kFailed, "nobody takes what is read");
  Slot& slot = slots_[filled_ % slots_.size()];
  slot.worked = false;
  open_ = &slot.portion;
  open_->batch.clear();
  open_->warnings.clear();
  open_->error_lines = error_lines_;
  open_->done = 0;
  open_->failure = nullptr;
  return *open_;
}

void OrderedParallelMap::hand_over(bool input_waits) {
  open().input_waits = input_waits;
  caught_up_ = input_waits;
  open_ = nullptr;
  {
    const std::scoped_lock lock(mutex_);
    ++filled_;
  }
  filled_one_.notify_one();
}

void OrderedParallelMap::work(std::size_t worker) {
  std::unique_lock lock(mutex_);
  while (true) {
    filled_one_.wait(lock, [this] { return stopping_ || begun_ < filled_ || ended_; });
    if (stopping_ || begun_ == filled_) return;
    Slot& slot = slots_[begun_++ % slots_.size()];
    lock.unlock();
    work_on(worker, slot.portion);
    lock.lock();
    slot.worked = true;
    worked_one_.notify_one();
  }
}

// An exception is the caller's business; it travels in the portion.
void OrderedParallelMap::work_on(std::size_t worker, Chunk& portion) {
  try {
    while (portion.done < portion.batch.size() && !stopping_) {
      work_(worker, portion.slot, portion.batch[portion.done]);
      ++portion.done;
    }
  } catch (...) {
    portion.failure = std::current_exception();
  }
}

}  // namespace cpt
