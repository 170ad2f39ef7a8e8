// A thread that reads and parses the chunks of a stream ahead of the learner.
#pragma once

#include <cstddef>
#include <cstdint>
#include <exception>
#include <functional>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "cpt/example.h"
#include "data/pipeline/blocking_queue.h"
#include "data/pipeline/example_stream.h"

namespace cpt {

// A chunk ends with the line at which its stream reaches or passes a multiple of one of these, counted from the
// beginnings of its shards. So a resumed stream is cut at the same places.
struct ChunkLimits {
  std::size_t examples = 1024;
  std::size_t features = std::size_t{1} << 17;
};

// The chunks and the reports that come with them depend on the data and the limits only, never on timing. All calls
// from one thread. The memory of a few chunks is recycled.
class ReadAhead {
 public:
  explicit ReadAhead(ExampleStream stream, ChunkLimits limits = {});
  // Stops the thread in the middle of its work, even where it waits for a pipe.
  ~ReadAhead();
  ReadAhead(const ReadAhead&) = delete;
  ReadAhead& operator=(const ReadAhead&) = delete;

  // The next chunk (never empty), valid until the call after the next; nullptr at the end. What the stream threw is
  // thrown here once all examples before it were handed out, and again by every later call.
  const Batch* next();
  // Sets a function that next() calls several times a second, on its own thread, while it waits. next() throws what it
  // throws, and may be called again.
  void call_while_waiting(std::function<void()> call) { while_waiting_ = std::move(call); }

  // As ExampleStream's, for the input up to the end of the chunks handed out (or up to the end, or the exception).
  std::uint64_t error_lines() const { return error_lines_; }
  std::vector<std::string> take_warnings();
  // The stream's cursors at its end, once next() was nullptr.
  const std::vector<Cursor>& final_cursors() const { return current_->cursors; }
  // As ExampleStream's, what was read ahead included: for a progress bar, not for decisions.
  double part_read() const { return stream_.part_read(); }

 private:
  struct Chunk {
    Batch batch;
    std::uint64_t error_lines = 0;      // since the stream began
    std::vector<std::string> warnings;  // since the chunk before
    std::vector<Cursor> cursors;        // only where the stream ended: its cursors
    bool last = false;                  // the stream ended, or failed, after it
    std::exception_ptr failure;
  };

  void run();
  void fill(Chunk& chunk);
  Chunk* wait_for_chunk();
  void report(Chunk& chunk);

  ExampleStream stream_;
  const ChunkLimits limits_;
  std::uint64_t examples_ = 0;  // of the stream's shards so far; like features_ the reader thread's
  std::uint64_t features_ = 0;

  std::vector<Chunk> chunks_;
  BlockingQueue<Chunk*> empty_;  // for the reader to fill
  BlockingQueue<Chunk*> full_;   // in order

  // Of the caller's side only.
  Chunk* previous_ = nullptr;  // handed out before current_, and still in use
  Chunk* current_ = nullptr;
  std::uint64_t error_lines_ = 0;
  std::vector<std::string> warnings_;
  std::function<void()> while_waiting_;

  std::thread thread_;  // last: it uses all of the above
};

}  // namespace cpt
