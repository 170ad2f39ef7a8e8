// Where bytes come from: a file, a pipe, or a decompressor on top of one.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>

#include "data/source/byte_range.h"

namespace cpt {

// What the reader of several sources shares with other threads.
struct ReadControl {
  std::atomic<bool> stop = false;             // set by others: a reader that waits for a pipe gives up
  std::atomic<std::uint64_t> bytes_read = 0;  // from files and pipes, before decompression
  std::atomic<std::uint64_t> all_bytes = 0;   // that are to be read, as far as is known
  // Called by the reader where a pipe has nothing at hand; set before it reads.
  std::function<void()> on_input_idle = {};
  // Called by the reader after every read of a file or pipe. Only its thread may change it.
  std::function<void()> on_progress = {};
};
using SharedControl = std::shared_ptr<ReadControl>;

class ByteSource {
 public:
  virtual ~ByteSource() = default;
  // Fills the front of `space` (not empty) and returns how many bytes; 0 only at the end, or once told to stop.
  // Throws Error(kNoInput) when reading fails, Error(kBadData) where a file was cut off meanwhile, CorruptInput when a
  // compressed stream is corrupt or breaks off; what came before the damage is returned first.
  virtual std::size_t read(std::span<char> space) = 0;
  // The same for bytes that nobody wants: up to `most` (>= 1) of them are gone, and their number is returned.
  virtual std::uint64_t skip(std::uint64_t most);
};

// A file, a named pipe or "-" (standard input); gzip (one or more members) and zstd (one or more frames) are recognised
// by their first bytes. Does not wait for a writer of a named pipe. Of a file, only bytes of the range count as read.
// Where `size` is given, the file is read as what it was when it had so many bytes: what is behind them is left, and
// one that has fewer now throws Error(kBadData) where it ends. Throws Error(kNoInput).
std::unique_ptr<ByteSource> open_bytes(const std::string& path, SharedControl control, ByteRange counted = {},
                                       std::optional<std::uint64_t> size = {});

// Why each compression has a reader of its own instead of one library for all: libarchive (raw format) and
// Boost.Iostreams were tried on 200 MB of text. In MB of text per second of processor time, gzip is read at 262 here, at
// 272 by libarchive and at 141 by Boost; zstd at 964, 953 and 770. But both libraries fill a block before they return
// any of it: a line that was flushed into a pipe is not seen until more input arrives. Boost also takes a zstd stream
// that breaks off for a whole one, and neither says at which byte a stream is damaged.

// Reads until the space is full or the source ends; returns how many bytes there were.
std::size_t read_fully(ByteSource& source, std::span<char> space);

// How messages call the input at `path`.
std::string input_name(const std::string& path);

}  // namespace cpt
