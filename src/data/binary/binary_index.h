// What a program can know of a shard without reading all of it: the index of a binary shard, and the size of its text.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "data/binary/binary_shard.h"
#include "data/format/read_options.h"
#include "data/shards/shards.h"

namespace cpt {

// The index at the end of the file. Throws Error(kNoInput) if the file cannot be read, the errors of
// BinaryReader::read_header(), and CorruptInput if there is no sound index at its end.
std::vector<IndexEntry> read_index(const std::string& path, const ReadOptions& options);

// True if the shard is text, compressed or not, that can be read again: neither a pipe nor a binary shard. False if it
// cannot be read.
bool is_text_file(const Shard& shard);

// The size in bytes of the text of a shard, to choose the size of a table: exact for text; what a binary shard records,
// which counts crosses and n-grams, too; three times the stored size for other binary shards and for compressed files
// (measured: 2.4 to 5 times); 0 for a pipe. Throws Error(kNoInput) if the shard cannot be read.
std::uint64_t estimated_text_bytes(const Shard& shard);
inline constexpr std::uint64_t kTextPerCompressedByte = 3;

// The start of the list of the block that holds this byte of a shard, for BinaryReader::skip; 0 if there is no index.
std::uint64_t list_at(const Shard& shard, std::uint64_t bytes, const ReadOptions& options);

}  // namespace cpt
