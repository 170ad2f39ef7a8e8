// Which lines of a file are those of a part of it: only messages want to know.
#pragma once

#include <cstdint>
#include <optional>

#include "data/shards/shards.h"
#include "data/source/byte_source.h"

namespace cpt {

// Counts them by reading the file up to the part, which may take as long as a pass over it. Not thread-safe.
class LineCounter {
 public:
  // Others wait for who reads: no more than this is read in all.
  static constexpr std::uint64_t kMostBytes = std::uint64_t{1} << 35;

  // Gives up once the control says so; it may be null.
  explicit LineCounter(SharedControl control, std::uint64_t most_bytes = kMostBytes)
      : control_(std::move(control)), bytes_left_(most_bytes) {}

  // Lines of the text that end before the one in which, or at whose end, the part begins: to be added to the numbers of
  // its LineReader. Nothing if that is too far from the beginning, or the file cannot be read any more.
  std::optional<std::uint64_t> of(const Shard& part);

 private:
  SharedControl control_;
  std::uint64_t bytes_left_;
};

}  // namespace cpt
