// The shards of a run: files, or parts of them.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "comm/communicator.h"
#include "data/shards/shards.h"
#include "train/input/traversal_plan.h"

namespace cpt {

// Replaces every file that can be split by `parts` shards; appends the others to `whole`. Collective: one rank reads
// the first bytes of each file.
std::vector<TrackedShard> split_files(const std::vector<TrackedShard>& files, std::uint32_t parts, Communicator& comm,
                                      std::vector<Shard>& whole);

// A warning that names the files that --split leaves whole; empty if there are none.
std::string warning_of_whole_files(const std::vector<Shard>& whole);

// A warning about `readers` (see assign_shards()) that get none of these shards, with the --split that would help if
// files `may_be_split`; empty if every reader gets one.
std::string warning_of_idle_ranks(const std::vector<Shard>& shards, const std::vector<bool>& readers,
                                  bool may_be_split);

}  // namespace cpt
