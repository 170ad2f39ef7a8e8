// Applies work to the examples of a stream on several threads and hands out the results in the order of the input.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <future>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "core/deferred_error.h"
#include "cpt/example.h"
#include "data/pipeline/blocking_queue.h"
#include "data/pipeline/example_stream.h"

namespace cpt {

// Consecutive examples that one thread works on.
struct Chunk {
  std::size_t slot = 0;  // below OrderedParallelMap::slots(); no two chunks share one at a time
  Batch batch;           // may be empty
  struct Line {
    InputLine input;  // see ExampleStream::line()
    std::size_t examples = 0;
  };
  std::vector<Line> lines;  // in order, with those without an example that the stream returns for
  // As in ExampleStream: bad lines up to these examples, and warnings since the chunk before.
  std::uint64_t bad_lines = 0;
  std::vector<std::string> warnings;
  bool input_waits = false;  // the input has no more for now, so results should be handed out at once
  std::size_t done = 0;      // examples whose work is done: all, unless the work on one failed
  DeferredError failure;     // of the work on the example after those
};

// The largest size of chunks. The first chunks have one example and sizes grow slowly, so that all threads get work
// from short inputs, too.
struct MapChunkLimits {
  std::size_t examples = 128;
  std::size_t features = std::size_t{1} << 14;
};

// One thread reads, several work, the caller takes futures in order. The results depend on the data only; the bounds of
// chunks may depend on timing. Memory: two or three chunks a thread. All calls come from one thread.
class OrderedParallelMap {
 public:
  // Works on one example of the chunk in `slot`. No two threads use the same `worker` (below `threads`) or `slot` at a
  // time. Keep results by slot until the chunk was taken and given back.
  using Work = std::function<void(std::size_t worker, std::size_t slot, const ExampleView& x)>;

  // Throws Error(kFailed) if the threads cannot be started.
  OrderedParallelMap(ExampleStream stream, std::size_t threads, Work work, MapChunkLimits limits = {});
  // Stops the threads in the middle of their work, even where they wait for a pipe.
  ~OrderedParallelMap();
  OrderedParallelMap(const OrderedParallelMap&) = delete;
  OrderedParallelMap& operator=(const OrderedParallelMap&) = delete;

  static std::size_t slots(std::size_t threads) { return 2 * threads + 1; }

  // The next chunk, once its work is done or has failed; the next call gives it back. nullptr at the end. An error of
  // the stream is thrown after all examples before it, and again by every later call.
  const Chunk* next();

 private:
  using Task = std::packaged_task<void(std::size_t worker)>;
  struct Result {
    Chunk* chunk;
    std::future<void> done;
  };

  void stop();

  // Of the reading thread.
  void read();
  void append(const Batch& line);
  Chunk& open();
  void hand_over(bool input_waits);

  // Of the working threads.
  void work_on(std::size_t worker, Chunk& chunk);

  ExampleStream stream_;
  const Work work_;
  const MapChunkLimits limits_;
  const std::size_t threads_;

  std::vector<Chunk> chunks_;  // by slot; each is in one of the queues, or in use by one of the threads
  BlockingQueue<Chunk*> free_;
  BlockingQueue<Task> tasks_;
  BlockingQueue<Result> results_;  // in the order of the input
  std::atomic<bool> stopping_ = false;
  DeferredError failure_;  // of the stream; set before results_ is closed

  // Of the reading thread only.
  Chunk* open_ = nullptr;
  std::size_t handed_over_ = 0;
  std::uint64_t bad_lines_ = 0;  // reported with chunks so far
  bool caught_up_ = true;        // no chunk was handed over since the input waited

  Chunk* taken_ = nullptr;  // by the caller

  std::vector<std::thread> running_;  // last: they use all of the above
};

}  // namespace cpt
