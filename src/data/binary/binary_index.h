// What shard files tell without being read as a whole: the index of a binary shard, and how much text they stand for.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "data/binary/binary_shard.h"
#include "data/format/read_options.h"
#include "data/shards/shards.h"

namespace cpt {

// The index at the end of the file. Throws Error(kNoInput) if it cannot be read, what
// BinaryReader throws at its header, and CorruptInput where there is no sound index at its end.
std::vector<IndexEntry> read_index(const std::string& path, const ReadOptions& options);

// Whether the shard is text, compressed or not, that can be read again: neither a pipe nor a binary shard. False where
// it cannot be read.
bool is_text_file(const Shard& shard);

// Bytes of text of a shard, to size a table by: exact for text, and for binary shards that know it; three times its own
// bytes for other binary shards and for compressed files (measured: 2.4 to 5 times); 0 for a pipe. Throws
// Error(kNoInput) if the shard cannot be read.
std::uint64_t estimated_text_bytes(const Shard& shard);
inline constexpr std::uint64_t kTextPerCompressedByte = 3;

// Where the list of the block begins that holds this byte of a shard, for BinaryReader::skip; 0 where no index tells.
std::uint64_t list_at(const Shard& shard, std::uint64_t bytes, const ReadOptions& options);

}  // namespace cpt
