// Files that several ranks read, each a part of them.
#pragma once

#include <cstdint>
#include <vector>

#include "data/shards/shards.h"

namespace cpt {

inline constexpr std::uint32_t kMostFileParts = 4096;

// Whether it can be read in parts: a file that is not compressed. Throws Error(kNoInput) where it cannot be read.
bool can_be_split(const Shard& file);

// The file as so many shards, or as one for each of its bytes if these are fewer; an empty one stays whole. They depend
// on its size only, and follow one another in the file. 1 <= parts <= kMostFileParts.
std::vector<Shard> split(const Shard& file, std::uint32_t parts);

}  // namespace cpt
