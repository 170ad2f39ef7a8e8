// Writes a checkpoint, on all ranks together. api/checkpoint/checkpoint_reader.h says what it consists of.
#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <memory>

#include "api/checkpoint/run_state.h"
#include "comm/communicator.h"
#include "model/learning/learner.h"
#include "train/placement/ownership.h"

namespace cpt {

// Writes a checkpoint that appears whole or not at all (C1, C2), and reads it back to compare checksums. All ranks call
// it alike, with the same tree and state; each writes the weights of the partitions that `writers` gives it. The
// directory is rank 0's choice, and must be one that all ranks see. Throws AgreedError (alone, Error): kCannotWrite, or
// kFailed where trees differ (C5). Returns its bytes on disk, on all ranks.
std::uint64_t write_checkpoint(const Learner& learner, Communicator& comm, const Owners& writers, const RunState& state,
                               const std::filesystem::path& directory);

}  // namespace cpt
