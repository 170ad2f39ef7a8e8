// Where the reading of a shard goes on.
#pragma once

#include <cstdint>

namespace cpt {

// How far a shard was read: everything up to the end of a line (C6). A shard that ended is read up to its last byte;
// one that ended because its compressed stream is damaged, one byte further than can be read. So a reader that goes on
// there meets the damage before the cursor, and knows that it was counted. In a binary shard a cursor stands at the
// block that holds the next line, and at the end at the index. Where the shard is a part of a file, bytes are those of
// the file, as are lines of a binary one; lines of a text are those of the part (LineReader::begin_at()).
struct Cursor {
  std::uint64_t bytes = 0;      // of its content, decompressed; 0: from the beginning of the shard
  std::uint64_t line = 0;       // number of the last line that is done; 0: none
  std::uint64_t position = 0;   // lines with examples so far
  std::uint64_t examples = 0;   // so far
  std::uint64_t bad_lines = 0;  // skipped so far
  std::uint64_t features = 0;   // of the examples so far, constant ones included
  friend bool operator==(const Cursor&, const Cursor&) = default;
};

}  // namespace cpt
