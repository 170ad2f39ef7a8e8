#include "data/read_ahead.h"

#include <iterator>
#include <utility>

namespace cpt {
namespace {

constexpr std::size_t kChunks = 5;  // two with the caller, the rest for the reader

}  // namespace

ReadAhead::ReadAhead(ExampleStream stream, ChunkLimits limits) : stream_(std::move(stream)), limits_(limits) {
  for (std::size_t i = 0; i < kChunks; ++i) chunks_.push_back({stream_.make_batch(), 0, {}, {}, false, nullptr});
  for (Chunk& chunk : chunks_) empty_.push_back(&chunk);
  thread_ = std::thread([this] { run(); });
}

ReadAhead::~ReadAhead() {
  stream_.stop();
  {
    const std::scoped_lock lock(mutex_);
    stopping_ = true;
  }
  changed_.notify_all();
  thread_.join();
}

const Batch* ReadAhead::next() {
  std::unique_lock lock(mutex_);
  if (current_ != nullptr && !current_->last) {
    if (previous_ != nullptr) empty_.push_back(previous_);
    previous_ = std::exchange(current_, nullptr);
    changed_.notify_all();
  }
  if (current_ == nullptr) {
    changed_.wait(lock, [this] { return !full_.empty(); });
    current_ = full_.front();
    full_.pop_front();
    report(*current_);
    if (!current_->batch.empty()) return &current_->batch;
  }
  // The last chunk is kept, so later calls end up here too.
  if (current_->failure) std::rethrow_exception(current_->failure);
  return nullptr;
}

void ReadAhead::report(Chunk& chunk) {
  error_lines_ = chunk.error_lines;
  std::move(chunk.warnings.begin(), chunk.warnings.end(), std::back_inserter(warnings_));
  chunk.warnings.clear();
}

std::vector<std::string> ReadAhead::take_warnings() { return std::exchange(warnings_, {}); }

void ReadAhead::run() {
  std::unique_lock lock(mutex_);
  while (true) {
    changed_.wait(lock, [this] { return stopping_ || !empty_.empty(); });
    if (stopping_) return;
    Chunk* chunk = empty_.front();
    empty_.pop_front();
    lock.unlock();
    fill(*chunk);
    const bool last = chunk->last;
    lock.lock();
    full_.push_back(chunk);
    changed_.notify_all();
    if (last) return;
  }
}

// An exception is the caller's business; it travels in the chunk in whose place it arose.
void ReadAhead::fill(Chunk& chunk) {
  chunk.batch.clear();
  std::size_t features = 0;
  try {
    while (!chunk.last && chunk.batch.size() < limits_.examples && features < limits_.features) {
      const std::size_t before = chunk.batch.size();
      chunk.last = !stream_.read(chunk.batch);
      for (std::size_t i = before; i < chunk.batch.size(); ++i) features += chunk.batch[i].features.size();
    }
    if (chunk.last) chunk.cursors = stream_.cursors();
  } catch (...) {
    chunk.last = true;
    chunk.failure = std::current_exception();
  }
  chunk.error_lines = stream_.error_lines();
  chunk.warnings = stream_.take_warnings();
}

}  // namespace cpt
