// Threads that work on examples ahead of one who takes what has come of them, in the order of the input.
#pragma once

#include <atomic>
#include <condition_variable>
#include <cstddef>
#include <cstdint>
#include <exception>
#include <functional>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

#include "cpt/example.h"
#include "data/pipeline/example_stream.h"

namespace cpt {

// Examples that were read one after another, and that one thread works on.
struct Chunk {
  std::size_t slot = 0;  // below OrderedParallelMap::slots(): no two portions have the same at a time
  Batch batch;           // may be empty
  // As ExampleStream's: what was skipped before these examples, behind those of the portion before.
  std::uint64_t error_lines = 0;
  std::vector<std::string> warnings;
  bool input_waits = false;    // it ends where the input had nothing more at hand: who wants an answer now is to get it
  std::size_t done = 0;        // so many of its examples were worked on: all, unless that failed
  std::exception_ptr failure;  // what the work on the next one threw
};

// How large portions become. They begin with one example and grow slowly, so that few examples are work for all
// threads, too.
struct ChunkLimits {
  std::size_t examples = 128;
  std::size_t features = std::size_t{1} << 14;
};

// One thread reads, several work, the caller's takes. What it takes depends on the data alone, but for where one
// portion ends and the next one begins. Memory is that of two portions or three for every thread. All calls from one
// thread.
class OrderedParallelMap {
 public:
  // Works on one example of the portion in `slot`. The same `worker` (below `threads`) or `slot` is never used by two
  // threads at a time. What it makes of the example it keeps by slot, until the portion has been taken and given back.
  using Work = std::function<void(std::size_t worker, std::size_t slot, const ExampleView& x)>;

  // Throws Error(kFailed) if so many threads are not to be had.
  OrderedParallelMap(ExampleStream stream, std::size_t threads, Work work, ChunkLimits limits = {});
  // Ends the threads in the middle of their work, even where they wait for a pipe.
  ~OrderedParallelMap();
  OrderedParallelMap(const OrderedParallelMap&) = delete;
  OrderedParallelMap& operator=(const OrderedParallelMap&) = delete;

  static std::size_t slots(std::size_t threads) { return 2 * threads + 1; }

  // The next portion, whose work is done or has failed; it is given back by the next call. nullptr at the end. What the
  // stream threw is thrown here, once all examples before it were handed out, and again by every later call.
  const Chunk* next();

 private:
  struct Slot {
    Chunk portion;
    bool worked = false;
  };

  void start(std::size_t threads);
  void stop();

  // Of the thread that reads.
  void read();
  void read_all();
  void append(const Batch& line);
  Chunk& open();
  void hand_over(bool input_waits);

  // Of those that work.
  void work(std::size_t worker);
  void work_on(std::size_t worker, Chunk& portion);

  ExampleStream stream_;
  const Work work_;
  const ChunkLimits limits_;
  const std::size_t threads_;

  // Chunk n is in slot n modulo their number. Each number of portions is at most the one before it.
  std::mutex mutex_;
  std::vector<Slot> slots_;
  std::uint64_t filled_ = 0;    // handed over to those who work
  std::uint64_t begun_ = 0;     // taken up by one of them
  std::uint64_t returned_ = 0;  // given back by the caller
  bool ended_ = false;          // no more will be filled
  std::exception_ptr failure_;  // of the stream
  std::atomic<bool> stopping_ = false;
  std::condition_variable returned_one_, filled_one_, worked_one_;

  // Of the thread that reads only.
  Chunk* open_ = nullptr;
  std::uint64_t error_lines_ = 0;  // told with portions so far
  bool caught_up_ = true;          // nothing was handed over since the input waited

  bool handed_out_ = false;  // of the caller's side only

  std::vector<std::thread> running_;  // last: they use all of the above
};

}  // namespace cpt
