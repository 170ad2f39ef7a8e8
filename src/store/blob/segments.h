// Segments: the pieces of at most 4 MiB that a blob is cut into. Each is compressed and has a checksum of its own, so a
// blob of any size is read with little memory, and no unverified byte is handed out.
#pragma once

#include <condition_variable>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <memory>
#include <mutex>
#include <span>
#include <thread>
#include <vector>

#include "core/deferred_error.h"
#include "store/fs/durable_file.h"

struct ZSTD_CCtx_s;
struct ZSTD_DCtx_s;

namespace cpt {

inline constexpr std::uint32_t kMaxSegmentBytes = std::uint32_t{4} << 20;

// The manifest's entry for a segment. 1 <= stored_bytes <= raw_bytes <= kMaxSegmentBytes.
struct Segment {
  std::uint32_t raw_bytes = 0;
  std::uint32_t stored_bytes = 0;
  std::uint64_t checksum = 0;  // XXH3 (64 bits) of the stored bytes, seeded with both lengths

  // Whether its raw bytes are stored; otherwise a zstd frame is.
  bool is_uncompressed() const { return stored_bytes == raw_bytes; }

  friend bool operator==(const Segment&, const Segment&) = default;
};

// Whether the stored bytes of a segment match its checksum; nothing is decompressed.
// stored.size() == segment.stored_bytes.
bool is_intact(const Segment& segment, std::span<const std::byte> stored);

struct ZstdDeleter {
  void operator()(ZSTD_CCtx_s* context) const;
  void operator()(ZSTD_DCtx_s* context) const;
};

// Not thread-safe.
class SegmentEncoder {
 public:
  SegmentEncoder();

  struct Encoded {
    Segment segment;
    std::span<const std::byte> stored;  // points into `raw` or into the encoder; valid until its next encode()
  };
  // 1 <= raw.size() <= kMaxSegmentBytes.
  Encoded encode(std::span<const std::byte> raw);

 private:
  std::unique_ptr<ZSTD_CCtx_s, ZstdDeleter> context_;
  std::vector<std::byte> compressed_;
};

// Not thread-safe.
class SegmentDecoder {
 public:
  SegmentDecoder();

  // Verifies `stored` against the segment, then writes its raw bytes to `out`. Returns false, with `out` in any state,
  // if the bytes are not those that were encoded. stored.size() == segment.stored_bytes, out.size() ==
  // segment.raw_bytes.
  bool decode(const Segment& segment, std::span<const std::byte> stored, std::span<std::byte> out);

 private:
  std::unique_ptr<ZSTD_DCtx_s, ZstdDeleter> context_;
};

// Encodes segments on several threads and writes them to a file in their order, so the bytes are those that one thread
// would write. For one calling thread. Holds in memory one encoded segment per thread, and raw segments of together at
// most (threads + 1) * kMaxSegmentBytes: many, if they are small, so that threads seldom wait for one another.
class SegmentWriter {
 public:
  // Borrows the file; nobody else may write to it meanwhile. Up to `threads` threads work beside the caller's, fewer if
  // the system has no more. Each starts when there is work for it, from the second segment on. 0: the caller's thread
  // does all the work.
  SegmentWriter(OutputFile& file, int threads)
      : file_(file), most_threads_(static_cast<std::size_t>(threads)), most_spare_(most_threads_ + 1) {}
  // Drops the segments that are not written yet.
  ~SegmentWriter();
  SegmentWriter(const SegmentWriter&) = delete;
  SegmentWriter& operator=(const SegmentWriter&) = delete;

  // Takes a segment of 1 to kMaxSegmentBytes and leaves an empty buffer in its place; waits while there is no room.
  // Throws the first error of this or an earlier segment.
  void put(std::vector<std::byte>& raw);
  // The same for a segment that is already encoded. The caller's thread writes it as it is.
  void put_stored(const SegmentEncoder::Encoded& encoded);
  // Waits until all segments are written, and returns them in their order. Throws the first error of any.
  std::vector<Segment> finish();

 private:
  struct Task {
    std::uint64_t number = 0;
    std::vector<std::byte> raw;
  };

  void start_thread();
  void hand_over(std::vector<std::byte>& raw);
  void run() noexcept;
  bool take(Task& task);
  void write_in_turn(std::uint64_t number, const SegmentEncoder::Encoded& encoded);
  void fail() noexcept;

  OutputFile& file_;
  std::size_t most_threads_;
  const std::size_t most_spare_;
  SegmentEncoder encoder_;  // of the caller's thread
  std::mutex mutex_;
  std::condition_variable changed_;
  std::deque<Task> waiting_;
  std::vector<std::vector<std::byte>> spare_;  // buffers to use again
  std::vector<Segment> segments_;              // written
  std::uint64_t taken_ = 0;                    // by put()
  std::size_t raw_bytes_ = 0;                  // of the memory of segments handed over, until they are written
  DeferredError failure_;                      // the first one of any thread
  bool stopping_ = false;
  std::vector<std::thread> threads_;  // last: they use all of the above
};

}  // namespace cpt
