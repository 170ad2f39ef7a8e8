#include "data/pipeline/ordered_parallel_map.h"

#include <algorithm>
#include <system_error>
#include <utility>

#include "cpt/error.h"

namespace cpt {

OrderedParallelMap::OrderedParallelMap(ExampleStream stream, std::size_t threads, Work work, MapChunkLimits limits)
    : stream_(std::move(stream)), work_(std::move(work)), limits_(limits), threads_(threads), chunks_(slots(threads)) {
  for (std::size_t i = 0; i < chunks_.size(); ++i) {
    chunks_[i].slot = i;
    chunks_[i].batch = stream_.make_batch();
    free_.push(&chunks_[i]);
  }
  running_.reserve(threads + 1);
  stream_.on_input_idle([this] {
    if (open_ != nullptr || !caught_up_) hand_over(true);
  });
  try {
    running_.emplace_back([this] { read(); });
    for (std::size_t worker = 0; worker < threads; ++worker) {
      running_.emplace_back([this, worker] {
        while (std::optional<Task> task = tasks_.pop()) (*task)(worker);
      });
    }
  } catch (const std::system_error& error) {
    stop();
    throw Error(Fault::kFailed,
                "cannot start " + std::to_string(threads) + " threads (" + error.what() + "); use fewer --threads");
  }
}

OrderedParallelMap::~OrderedParallelMap() { stop(); }

void OrderedParallelMap::stop() {
  stopping_ = true;
  stream_.stop();
  free_.abandon();
  tasks_.abandon();
  for (std::thread& thread : running_) thread.join();
}

const Chunk* OrderedParallelMap::next() {
  if (Chunk* taken = std::exchange(taken_, nullptr)) free_.push(taken);
  std::optional<Result> result = results_.pop();
  if (!result) {
    failure_.rethrow();
    return nullptr;
  }
  taken_ = result->chunk;
  taken_->failure.run([&] { result->done.get(); });
  return taken_;
}

void OrderedParallelMap::read() {
  failure_.run([this] {
    Batch line = stream_.make_batch();
    for (bool more = true; more && !stopping_; line.clear()) {
      more = stream_.read(line);
      if (stream_.bad_lines() != bad_lines_) {
        if (open_ != nullptr) hand_over(false);
        open().bad_lines = bad_lines_ = stream_.bad_lines();
        open_->warnings = stream_.take_warnings();
      }
      if (more) append(line);
    }
  });
  if (open_ != nullptr) hand_over(false);
  tasks_.close();
  results_.close();
}

void OrderedParallelMap::append(const Batch& line) {
  Batch& batch = open().batch;
  for (std::size_t i = 0; i < line.size(); ++i) batch.append(line[i]);
  open().lines.push_back({stream_.line(), line.size()});
  const std::size_t most = std::min(limits_.examples, 1 + handed_over_ / threads_);
  if (batch.size() >= most || open().lines.size() >= most || batch.features() >= limits_.features) hand_over(false);
}

// The chunk that is being filled; a new one once the caller has given one back.
Chunk& OrderedParallelMap::open() {
  if (open_ != nullptr) return *open_;
  const std::optional<Chunk*> chunk = free_.pop();
  if (!chunk) throw Error(Fault::kFailed, "the reader was stopped");
  open_ = *chunk;
  open_->batch.clear();
  open_->lines.clear();
  open_->warnings.clear();
  open_->bad_lines = bad_lines_;
  open_->done = 0;
  open_->failure = {};
  return *open_;
}

void OrderedParallelMap::hand_over(bool input_waits) {
  open().input_waits = input_waits;
  caught_up_ = input_waits;
  Chunk* chunk = std::exchange(open_, nullptr);
  ++handed_over_;
  Task task([this, chunk](std::size_t worker) { work_on(worker, *chunk); });
  results_.push({chunk, task.get_future()});
  tasks_.push(std::move(task));
}

void OrderedParallelMap::work_on(std::size_t worker, Chunk& chunk) {
  while (chunk.done < chunk.batch.size() && !stopping_) {
    work_(worker, chunk.slot, chunk.batch[chunk.done]);
    ++chunk.done;
  }
}

}  // namespace cpt
