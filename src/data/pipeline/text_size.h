// How much text shards stand for, without reading them.
#pragma once

#include <cstdint>

#include "data/shards/shards.h"

namespace cpt {

// Bytes of text of a shard. Compressed and binary shards tell what they were made of at their beginning or end; where
// they do not, because they came through a pipe or are of several parts, three times their own are taken (measured: 2.4
// to 5). 0 for a pipe. Throws Error(kNoInput) if the shard cannot be read.
std::uint64_t estimated_text_bytes(const Shard& shard);

inline constexpr std::uint64_t kTextOfPacked = 3;

}  // namespace cpt
