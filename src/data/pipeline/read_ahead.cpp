#include "data/pipeline/read_ahead.h"

#include <algorithm>
#include <chrono>
#include <iterator>
#include <optional>
#include <utility>

namespace cpt {
namespace {

constexpr std::size_t kChunks = 5;  // two in use by the caller, the rest for the reader

// Time between calls of the function for waiting.
constexpr std::chrono::milliseconds kWait{100};

// The smallest multiple above `count`.
std::uint64_t next_multiple(std::uint64_t of, std::uint64_t count) { return (count / of + 1) * of; }

}  // namespace

ReadAhead::ReadAhead(ExampleStream stream, ChunkLimits limits) : stream_(std::move(stream)), limits_(limits) {
  for (std::size_t i = 0; i < kChunks; ++i) chunks_.push_back({stream_.make_batch()});
  for (Chunk& chunk : chunks_) empty_.push(&chunk);
  for (const Cursor& begin : stream_.cursors()) {
    examples_ += begin.examples;
    features_ += begin.features;
  }
  thread_ = std::thread([this] { run(); });
}

ReadAhead::~ReadAhead() {
  stream_.stop();
  empty_.abandon();
  thread_.join();
}

const Batch* ReadAhead::next() {
  if (current_ != nullptr && !current_->last) {
    if (previous_ != nullptr) empty_.push(previous_);
    previous_ = std::exchange(current_, nullptr);
  }
  if (current_ == nullptr) {
    std::optional<Chunk*> chunk;
    while (!(chunk = full_.pop_within(kWait))) {
      if (while_waiting_) while_waiting_();
    }
    current_ = *chunk;
    bad_lines_ = current_->bad_lines;
    std::ranges::move(current_->warnings, std::back_inserter(warnings_));
    current_->warnings.clear();
    if (!current_->batch.empty()) return &current_->batch;
  }
  // The last chunk is kept, so later calls end up here too.
  current_->failure.rethrow();
  return nullptr;
}

void ReadAhead::run() {
  bool last = false;
  while (!last) {
    const std::optional<Chunk*> chunk = empty_.pop();
    if (!chunk) return;
    fill(**chunk);
    last = (*chunk)->last;
    full_.push(*chunk);
  }
}

// An error travels to the caller with the chunk in which it arose.
void ReadAhead::fill(Chunk& chunk) {
  chunk.batch.clear();
  const std::uint64_t examples_end = next_multiple(limits_.examples, examples_);
  const std::uint64_t features_end = next_multiple(limits_.features, features_);
  const std::uint64_t examples_before = examples_;
  const std::uint64_t features_before = features_;
  chunk.failure.run([&] {
    while (!chunk.last && examples_ < examples_end && features_ < features_end) {
      chunk.last = !stream_.read(chunk.batch);
      examples_ = examples_before + chunk.batch.size();
      features_ = features_before + chunk.batch.features();
    }
    if (chunk.last) chunk.cursors = stream_.cursors();
  });
  if (chunk.failure) chunk.last = true;
  chunk.bad_lines = stream_.bad_lines();
  chunk.warnings = stream_.take_warnings();
}

}  // namespace cpt
