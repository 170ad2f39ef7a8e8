// A thread that reads and parses the chunks of a stream ahead of the learner.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "core/deferred_error.h"
#include "cpt/example.h"
#include "data/pipeline/blocking_queue.h"
#include "data/pipeline/example_stream.h"

namespace cpt {

// A chunk ends with the line at which its stream reaches or passes a multiple of one of these, counted from the starts
// of its shards. So a resumed stream is cut at the same places.
struct ChunkLimits {
  std::size_t examples = 1024;
  std::size_t features = std::size_t{1} << 17;
};

// The chunks and their reports depend on the data and the limits only, never on timing. All calls come from one thread.
// The memory of a few chunks is recycled.
class ReadAhead {
 public:
  explicit ReadAhead(ExampleStream stream, ChunkLimits limits = {});
  // Stops the thread in the middle of its work, even where it waits for a pipe.
  ~ReadAhead();
  ReadAhead(const ReadAhead&) = delete;
  ReadAhead& operator=(const ReadAhead&) = delete;

  // The next chunk (never empty), valid until the call after the next; nullptr at the end. An error of the
  // stream is thrown after all examples before it, and again by every later call.
  const Batch* next();
  // Sets a function that next() calls several times a second, on the caller's thread, while it waits. Its exceptions
  // leave next(), which may be called again.
  void call_while_waiting(std::function<void()> call) { while_waiting_ = std::move(call); }

  // As in ExampleStream, for the input up to the end of the chunks handed out (or up to the end, or the error).
  std::uint64_t bad_lines() const { return bad_lines_; }
  std::vector<std::string> take_warnings() { return std::exchange(warnings_, {}); }
  // The cursors of the stream at its end, once next() returned nullptr.
  const std::vector<Cursor>& final_cursors() const { return current_->cursors; }
  // As in ExampleStream, including input that was read ahead: for a progress bar, not for decisions.
  double part_read() const { return stream_.part_read(); }

 private:
  struct Chunk {
    Batch batch;
    std::uint64_t bad_lines = 0;             // since the start of the stream
    std::vector<std::string> warnings = {};  // since the chunk before
    std::vector<Cursor> cursors = {};        // of the stream at its end; else empty
    bool last = false;                       // the stream ended, or failed, after it
    DeferredError failure = {};
  };

  void run();
  void fill(Chunk& chunk);

  ExampleStream stream_;
  const ChunkLimits limits_;
  // Of the reading thread only: counts of the stream's shards so far.
  std::uint64_t examples_ = 0;
  std::uint64_t features_ = 0;

  std::vector<Chunk> chunks_;
  BlockingQueue<Chunk*> empty_;  // for the reader to fill
  BlockingQueue<Chunk*> full_;   // in order

  // Of the caller only.
  Chunk* previous_ = nullptr;  // handed out before current_, and still in use
  Chunk* current_ = nullptr;
  std::uint64_t bad_lines_ = 0;
  std::vector<std::string> warnings_;
  std::function<void()> while_waiting_;

  std::thread thread_;  // last: it uses all of the above
};

}  // namespace cpt
