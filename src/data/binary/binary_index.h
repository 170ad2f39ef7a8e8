// Where the blocks of a binary shard begin.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "data/binary/binary_shard.h"
#include "data/format/read_options.h"
#include "data/shards/shards.h"

namespace cpt {

// The index at the end of the file, which must have this header. Throws Error(kNoInput) if it cannot be read, what
// BinaryReader throws at its header, and CorruptInput where there is no sound index at its end.
std::vector<IndexEntry> read_index(const std::string& path, const std::string& header, const ReadOptions& options);

// Where the list of the block begins that holds this byte of a shard, for BinaryReader::skip; 0 where no index tells.
std::uint64_t list_at(const Shard& shard, std::uint64_t bytes, const ReadOptions& options);

}  // namespace cpt
