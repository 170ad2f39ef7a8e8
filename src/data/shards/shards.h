// Which files are read, and by which rank.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "data/source/byte_source.h"

namespace cpt {

// Which of the parts of a file; the whole of it is the only one.
struct FilePart {
  std::uint32_t index = 0;
  std::uint32_t count = 1;

  friend bool operator==(const FilePart&, const FilePart&) = default;
};

// One input file, or a part of one (split()). The index of a shard in the list of all shards is its number.
struct Shard {
  std::string path;         // "-" is standard input
  std::uint64_t bytes = 0;  // of the file, as stored, so compressed where it is: no more are read; 0 for pipes
  bool regular = true;      // a file; else a pipe, or what has no more size than one: it is read once, to its end
  FilePart part{};
};

// Of the file: the lines, or blocks, whose first byte is in there are the shard's. Ranges depend on the size of the
// file and on the part only; those of all parts make up the file, and the last one goes on to its end.
ByteRange range_of(const Shard& shard);

// How many of the bytes of the file are the shard's.
std::uint64_t own_bytes(const Shard& shard);

// Files, directories (their regular files whose names do not start with '.' or '_', not recursive) and globs (glob(3)),
// in the order given, each expanded in the byte order of names. No file twice, by whatever name. Throws
// Error(kNoInput), naming the pattern, if one yields nothing or cannot be read.
std::vector<Shard> find_shards(const std::vector<std::string>& patterns);

// Whether both have the same file, by whatever names.
bool is_one_file(const Shard& a, const Shard& b);

// XXH3-64 of the first 64 KiB of the file as stored, to tell whether it is still the same; 0 for pipes. Throws
// Error(kNoInput) if it cannot be read.
std::uint64_t head_checksum(const Shard& shard);

// [rank] -> ascending numbers of the shards it reads: largest first to the rank with the fewest bytes so far (ties: the
// one with the fewest shards, then the lowest; equal sizes: in list order). A shard has one rank, so ranks may get
// none. ranks >= 1.
std::vector<std::vector<std::uint32_t>> assign_shards(const std::vector<Shard>& shards, int ranks);

inline constexpr std::uint32_t kMostFileParts = 4096;

// Whether it can be read in parts: a file that is not compressed. Throws Error(kNoInput) where it cannot be read.
bool can_be_split(const Shard& file);

// The file as so many shards, or as one for each of its bytes if these are fewer; an empty one stays whole. They depend
// on its size only, and follow one another in the file. 1 <= parts <= kMostFileParts.
std::vector<Shard> split(const Shard& file, std::uint32_t parts);

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
