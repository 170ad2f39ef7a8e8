// Applies work to the examples of a stream on several threads and hands out the results in the order of the input.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <exception>
#include <functional>
#include <future>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "cpt/example.h"
#include "data/pipeline/blocking_queue.h"
#include "data/pipeline/example_stream.h"

namespace cpt {

// Consecutive examples that one thread works on.
struct Chunk {
  std::size_t slot = 0;  // below OrderedParallelMap::slots(); no two chunks have the same slot at a time
  Batch batch;           // may be empty
  // As ExampleStream's: the bad lines up to these examples, and the warnings since the chunk before.
  std::uint64_t error_lines = 0;
  std::vector<std::string> warnings;
  bool input_waits = false;    // the input has nothing more for now, so results should be handed out at once
  std::size_t done = 0;        // examples that were worked on: all, unless the work on one failed
  std::exception_ptr failure;  // what the work on the next one threw
};

// The largest size of chunks. They begin with one example and grow slowly, so that a few examples are work for all
// threads, too.
struct MapChunkLimits {
  std::size_t examples = 128;
  std::size_t features = std::size_t{1} << 14;
};

// One thread reads, several work, the caller takes futures in order. The results depend on the data only; where one
// chunk ends and the next begins may depend on timing. Memory: two or three chunks a thread. All calls from one thread.
class OrderedParallelMap {
 public:
  // Works on one example of the chunk in `slot`. No two threads use the same `worker` (below `threads`) or `slot` at a
  // time. Results are kept by slot until the chunk has been taken and given back.
  using Work = std::function<void(std::size_t worker, std::size_t slot, const ExampleView& x)>;

  // Throws Error(kFailed) where the threads cannot be started.
  OrderedParallelMap(ExampleStream stream, std::size_t threads, Work work, MapChunkLimits limits = {});
  // Stops the threads in the middle of their work, even where they wait for a pipe.
  ~OrderedParallelMap();
  OrderedParallelMap(const OrderedParallelMap&) = delete;
  OrderedParallelMap& operator=(const OrderedParallelMap&) = delete;

  static std::size_t slots(std::size_t threads) { return 2 * threads + 1; }

  // The next chunk, once its work is done or has failed; the next call gives it back. nullptr at the end. What the
  // stream threw is thrown here once all examples before it were handed out, and again by every later call.
  const Chunk* next();

 private:
  using Task = std::packaged_task<void(std::size_t worker)>;
  struct Result {
    Chunk* chunk;
    std::future<void> done;
  };

  void start(std::size_t threads);
  void stop();

  // Of the reading thread.
  void read();
  void read_all();
  void append(const Batch& line);
  Chunk& open();
  void hand_over(bool input_waits);

  // Of the working threads.
  void work(std::size_t worker);
  void work_on(std::size_t worker, Chunk& chunk);

  ExampleStream stream_;
  const Work work_;
  const MapChunkLimits limits_;
  const std::size_t threads_;

  std::vector<Chunk> chunks_;  // by slot; each is in one of the queues, or with one of the threads
  BlockingQueue<Chunk*> free_;
  BlockingQueue<Task> tasks_;
  BlockingQueue<Result> results_;  // in the order of the input
  std::atomic<bool> stopping_ = false;
  std::exception_ptr failure_;  // of the stream; set before results_ is closed

  // Of the reading thread only.
  Chunk* open_ = nullptr;
  std::size_t handed_over_ = 0;
  std::uint64_t error_lines_ = 0;  // reported with chunks so far
  bool caught_up_ = true;          // nothing was handed over since the input waited

  Chunk* taken_ = nullptr;  // by the caller

  std::vector<std::thread> running_;  // last: they use all of the above
};

}  // namespace cpt
