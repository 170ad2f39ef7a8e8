// Writes the model of a run whose weights are spread over ranks.
#pragma once

#include <filesystem>

#include "comm/communicator.h"
#include "model/learning/learner.h"
#include "train/placement/ownership.h"

namespace cpt {

// What save_learner() writes of one process, where the weights are spread over ranks, each of which has those of the
// partitions that it owns, and all have the tree. All ranks call it alike; rank 0 writes and holds a few packed
// partitions at a time. If that fails, all throw the same AgreedError (alone, the error itself), and what was there
// under this name is as it was.
void save_learner(const Learner& learner, Communicator& comm, const Owners& owners,
                  const std::filesystem::path& directory);

}  // namespace cpt
