// Where bytes come from: a file, a pipe, or a decompressor on top of one.
#pragma once

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "core/deferred_error.h"

namespace cpt {

// A range of the bytes of a file.
struct ByteRange {
  std::uint64_t begin = 0;
  std::uint64_t end = ~std::uint64_t{0};  // one past its last byte; the default is the end of the file

  friend bool operator==(const ByteRange&, const ByteRange&) = default;
};

// State that the reader of several sources shares with other threads.
struct ReadControl {
  std::atomic<bool> stop = false;             // set by other threads: a reader that waits for a pipe gives up
  std::atomic<std::uint64_t> bytes_read = 0;  // from files and pipes, before decompression
  // Called by the reader before it waits for a pipe. Set before the first read.
  std::function<void()> on_input_idle = {};
  // Called by the reader after every read of a file or pipe. Only its thread may change it.
  std::function<void()> on_progress = {};
};
using SharedControl = std::shared_ptr<ReadControl>;

class ByteSource {
 public:
  virtual ~ByteSource() = default;
  // Fills the front of `space` (not empty) and returns the number of bytes; 0 only at the end or after a stop.
  // Throws Error(kNoInput) if reading fails, Error(kBadData) where a file was truncated meanwhile, CorruptInput if a
  // compressed stream is corrupt or breaks off; the bytes before the damage are returned first.
  virtual std::size_t read(std::span<char> space) = 0;
  // Drops up to `most` (>= 1) bytes and returns their number; otherwise as read().
  virtual std::uint64_t skip(std::uint64_t most);
};

// A file, a named pipe or "-" (standard input); gzip (one or more members) and zstd (one or more frames) are recognised
// by their first bytes. Does not wait for a writer of a named pipe. Of a file, only bytes in `counted` count as read.
// With `size`, a file is read as it was when it had that size: later bytes are ignored, and a shorter file throws
// Error(kBadData) at its end. Throws Error(kNoInput).
//
// Why each compression has a reader of its own instead of one library for all: libarchive (raw format) and
// Boost.Iostreams were tried on 200 MB of text. In MB of text per second of processor time, gzip is read at 262 here,
// at 272 by libarchive and at 141 by Boost; zstd at 964, 953 and 770. But both libraries fill a block before they
// return any of it: a line that was flushed into a pipe is not seen until more input arrives. Boost also takes a zstd
// stream that breaks off for a whole one, and neither says at which byte a stream is damaged.
std::unique_ptr<ByteSource> open_bytes(const std::string& path, SharedControl control, ByteRange counted = {},
                                       std::optional<std::uint64_t> size = {});

// Reads until the space is full or the source ends; returns the number of bytes.
std::size_t read_fully(ByteSource& source, std::span<char> space);

// The name of the input at `path` in messages.
std::string input_name(const std::string& path);

// A source whose first bytes can be inspected before they are read.
class PeekedSource : public ByteSource {
 public:
  explicit PeekedSource(std::unique_ptr<ByteSource> source) : source_(std::move(source)) {}

  // The first `count` bytes (at most 16), or all if there are fewer; before the first read. Returns fewer, but at least
  // one, once `wants_more` of the bytes so far is false: the writer of a pipe may wait for an answer before it writes
  // more. Errors of the source are left to read(), in their place. What ReadControl::on_input_idle throws is thrown,
  // unless it is an Error(kNoInput) or Error(kBadData).
  std::string_view peek(std::size_t count, const std::function<bool(std::string_view)>& wants_more);

  std::size_t read(std::span<char> space) override;
  std::uint64_t skip(std::uint64_t most) override;

 private:
  std::unique_ptr<ByteSource> source_;
  std::array<char, 16> begin_{};
  std::size_t first_ = 0;  // begin_[first_, last_) was peeked at but not read
  std::size_t last_ = 0;
  DeferredError failure_;
};

}  // namespace cpt
