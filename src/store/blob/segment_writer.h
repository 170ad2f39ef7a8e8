// Segments on their way to a file: encoded by several threads, written in their order, so that the bytes are those that
// one thread would write.
#pragma once

#include <condition_variable>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <exception>
#include <functional>
#include <mutex>
#include <thread>
#include <vector>

#include "store/blob/segment_codec.h"
#include "store/fs/durable_file.h"

namespace cpt {

// Used by one thread. Has a segment and what it becomes in memory for each thread, and two more.
class SegmentWriter {
 public:
  // Borrows the file, to which nobody else writes meanwhile. `threads` work beside the caller's, as far as the system
  // has them: each starts when there is work for it, from the second segment on. 0: the caller's does it all.
  SegmentWriter(OutputFile& file, int threads) : file_(file), most_threads_(static_cast<std::size_t>(threads)) {}
  // What was not written yet is dropped.
  ~SegmentWriter();
  SegmentWriter(const SegmentWriter&) = delete;
  SegmentWriter& operator=(const SegmentWriter&) = delete;

  // Takes a segment of 1 to kMaxSegmentBytes and leaves an empty buffer in its place; waits while there is no room.
  // Throws what went wrong with this one or with any before it.
  void put(std::vector<std::byte>& raw);
  // The same of a segment as another writer has stored it: written as it is, by the caller's thread.
  void put_stored(const SegmentEncoder::Encoded& encoded);
  // Waits until all are written; describes them in their order. Throws what went wrong with any.
  std::vector<Segment> finish();

 private:
  struct Task {
    std::uint64_t number = 0;
    std::vector<std::byte> raw;
  };

  void write_now(const std::function<SegmentEncoder::Encoded()>& encode);
  void start_thread();
  void hand_over(std::vector<std::byte>& raw);
  void run() noexcept;
  bool take(Task& task);
  void write_in_turn(std::uint64_t number, const SegmentEncoder::Encoded& encoded);
  void fail() noexcept;

  OutputFile& file_;
  std::size_t most_threads_;
  SegmentEncoder encoder_;  // of the caller's thread
  std::mutex mutex_;
  std::condition_variable changed_;
  std::deque<Task> waiting_;
  std::vector<std::vector<std::byte>> spare_;  // for their memory
  std::vector<Segment> segments_;              // written
  std::uint64_t taken_ = 0;                    // by put()
  std::exception_ptr failure_;
  bool stopping_ = false;
  std::vector<std::thread> threads_;  // last: they use all of the above
};

}  // namespace cpt
