// A checkpoint: a blob set of the kind "cpt checkpoint".
//   options, tree   see learner_blobs.h
//   state           where the run stands (cereal), after the number of its format
//   weights-NNNNN   the used lines of some partitions (see weights_blob.h), written by one rank
//   partitions      for every partition the blob that holds it, and where in there (cereal)
// Nothing in it depends on who reads it: any number of ranks can (C5). See store/format.md for the bytes.
#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <memory>

#include "comm/communicator.h"
#include "model/learner.h"
#include "train/ownership.h"
#include "train/run_state.h"

namespace cpt {

// Writes a checkpoint that appears whole or not at all (C1, C2), and reads it back to compare checksums. All ranks call
// it alike, with the same tree and state; each writes the weights of the partitions that `writers` gives it. The
// directory is rank 0's choice, and must be one that all ranks see. Throws AgreedError (alone, Error): kCannotWrite, or
// kFailed where trees differ (C5). Returns its bytes on disk, on all ranks.
std::uint64_t write_checkpoint(const Learner& learner, Communicator& comm, const Owners& writers, const RunState& state,
                               const std::filesystem::path& directory);

// All throw Error(kNoInput) if there is no finished checkpoint, Error(kBadData) if it is damaged or not one, or of a
// newer format (C3, C9).
RunState read_run_state(const std::filesystem::path& checkpoint);
std::uint64_t bytes_of_checkpoint(const std::filesystem::path& checkpoint);
// Reads all of it, and returns its bytes. Throws as they do.
std::uint64_t verify_checkpoint(const std::filesystem::path& checkpoint);
// With the weights of the wanted partitions; lines of others are zero, and what holds them is not read.
std::unique_ptr<Learner> load_checkpoint(const std::filesystem::path& checkpoint,
                                         const std::function<bool(Partition)>& wanted);

}  // namespace cpt
