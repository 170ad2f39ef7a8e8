// The shards of a run: files, or parts of them.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "comm/communicator.h"
#include "data/shards/shards.h"
#include "train/input/traversal_plan.h"

namespace cpt {

// Every file that can be split as so many shards, in their place; those that stay whole are appended to `whole`.
// Collective: of each file one rank reads the first bytes.
std::vector<TrackedShard> split_files(const std::vector<TrackedShard>& files, std::uint32_t parts, Communicator& comm,
                                      std::vector<Shard>& whole);

// Which files are not split, although that was asked for; empty if there are none.
std::string warning_of_whole_files(const std::vector<Shard>& whole);

// How many ranks have nothing to read of these shards, and, where they `may_be_split` as the run begins, what would
// help; empty if all have something.
std::string warning_of_idle_ranks(const std::vector<Shard>& shards, int ranks, bool may_be_split);

}  // namespace cpt
