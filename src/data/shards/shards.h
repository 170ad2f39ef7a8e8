// Shards: the files to read and their parts, the rank that reads each, and cursors in them.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "data/source/byte_source.h"

namespace cpt {

// Part `index` of `count`; a whole file is part 0 of 1.
struct FilePart {
  std::uint32_t index = 0;
  std::uint32_t count = 1;

  friend bool operator==(const FilePart&, const FilePart&) = default;
};

// One input file, or a part of one (split()). The index of a shard in the list of all shards is its number.
struct Shard {
  std::string path;         // "-" is standard input
  std::uint64_t bytes = 0;  // size of the file as stored, and the most that is read of it; 0 for pipes
  bool regular = true;      // a file; else a pipe or a file of unknown size, which is read once, to its end
  FilePart part{};
};

// The shard holds the lines, or blocks, of its file whose first byte is in this range. Ranges depend on the size of the
// file and on the part only; together those of all parts cover the file, and the last one extends to its end.
ByteRange range_of(const Shard& shard);

// Number of bytes of the file in that range.
std::uint64_t own_bytes(const Shard& shard);

// Files, directories (their regular files whose names do not start with '.' or '_', not recursive) and globs (glob(3)),
// in the order given, each expanded in the byte order of names. A file with several names is taken once. Throws
// Error(kNoInput), naming the pattern, if one yields nothing or cannot be read. With `on_dangling`, a link to nothing
// in a directory, or found by a glob, is left out, and on_dangling(path) is called; without, it is an error, too.
std::vector<Shard> find_shards(const std::vector<std::string>& patterns,
                               const std::function<void(const std::string& path)>& on_dangling = {});

// The path in `b` of the first file that is in both lists, even under different names; empty if there is none.
std::string find_in_both(const std::vector<Shard>& a, const std::vector<Shard>& b);

// True if both have the same file, even under different names.
bool is_one_file(const Shard& a, const Shard& b);

// XXH3-64 of the first 64 KiB of the file as stored, up to the size that it had when it was found, to notice changes; 0
// for pipes. Throws Error(kNoInput) if it cannot be read, Error(kBadData) if it has become shorter than that.
std::uint64_t head_checksum(const Shard& shard);

// For a shard that is read again. Throws Error(kBadData) if its file has become shorter or has another head_checksum()
// than `head`, Error(kNoInput) if it cannot be read. What was appended since is not read, so it is no change.
void require_unchanged(const Shard& shard, std::uint64_t head);

// [rank] -> ascending numbers of the shards it reads: largest first to the rank with the fewest bytes so far (ties: the
// one with the fewest shards, then the lowest; equal sizes: in list order). A shard has one rank, so ranks may get
// none. `readers`, by rank: whether it reads; at least one does.
std::vector<std::vector<std::uint32_t>> assign_shards(const std::vector<Shard>& shards,
                                                      const std::vector<bool>& readers);
// All of `ranks` read. ranks >= 1.
std::vector<std::vector<std::uint32_t>> assign_shards(const std::vector<Shard>& shards, int ranks);

inline constexpr std::uint32_t kMostFileParts = 4096;

// True if the shard can be read in parts: it is a file and not compressed. Throws Error(kNoInput) if it cannot be read.
bool can_be_split(const Shard& file);

// The file as `parts` shards in the order of their ranges, or one for each byte if there are fewer; an empty file stays
// whole. The result depends on its size only. 1 <= parts <= kMostFileParts.
std::vector<Shard> split(const Shard& file, std::uint32_t parts);

// How far a shard was read: everything up to the end of a line (C6). At the end of a shard, `bytes` is its size; if a
// damaged compressed stream ended the shard, one more than the bytes that can be read. So a reader that continues there
// meets the damage before the cursor, and knows that the damage was counted. In a binary shard, a cursor stands at the
// block with the next line, and at the end at the index. In a part of a file, bytes are those of the file, and so are
// lines of a binary shard; lines of a text are those of the part (LineReader::begin_at()).
struct Cursor {
  std::uint64_t bytes = 0;      // of its content, decompressed; 0 is the start of the shard
  std::uint64_t line = 0;       // number of the last line read; 0 is none
  std::uint64_t position = 0;   // lines with examples so far
  std::uint64_t examples = 0;   // so far
  std::uint64_t bad_lines = 0;  // skipped so far
  std::uint64_t features = 0;   // of the examples so far, including constant ones
  friend bool operator==(const Cursor&, const Cursor&) = default;
};

}  // namespace cpt
