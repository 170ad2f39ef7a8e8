// Writes a checkpoint, or the model of a partitioned run, on all ranks together. For the content of a checkpoint see
// api/checkpoint/checkpoint_reader.h.
#pragma once

#include <cstdint>
#include <filesystem>

#include "api/checkpoint/run_state.h"
#include "comm/communicator.h"
#include "model/learning/learner.h"
#include "train/placement/ownership.h"

namespace cpt {

// Writes a checkpoint that appears whole or not at all (C1, C2), and reads it back to compare checksums. Collective,
// with the same tree and state on all ranks. Each rank writes the partitions that `writers` assigns to it. Rank 0's
// directory counts; all ranks must see it. Throws AgreedError (alone, Error): kCannotWrite, or kFailed if trees differ
// (C5). Returns the bytes on disk, on all ranks.
std::uint64_t write_checkpoint(const Learner& learner, Communicator& comm, const Owners& writers, const RunState& state,
                               const std::filesystem::path& directory);

// Writes the same files as save_learner() would if one process had the whole model. Collective: all ranks have the
// tree, each the weights of the partitions that it owns. Rank 0 writes and holds a few packed partitions at a time. If
// that fails, all ranks throw the same AgreedError (alone, the error itself), and the directory is as it was.
void save_partitioned_learner(const Learner& learner, Communicator& comm, const Owners& owners,
                              const std::filesystem::path& directory);

// The same; if `owners` is empty, each rank has the whole model, and rank 0 writes its own.
void save_model(const Learner& learner, Communicator& comm, const Owners& owners,
                const std::filesystem::path& directory);

}  // namespace cpt
