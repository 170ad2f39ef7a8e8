// Where the blocks of a binary shard begin.
#pragma once

#include <string>
#include <vector>

#include "data/binary_shard.h"
#include "data/read_options.h"

namespace cpt {

// The index at the end of the file, which must have this header. Throws Error(kNoInput) if it cannot be read, what
// BinaryReader throws at its header, and DamagedStream where there is no sound index at its end.
std::vector<IndexEntry> read_index(const std::string& path, const std::string& header, const ReadOptions& options);

}  // namespace cpt
