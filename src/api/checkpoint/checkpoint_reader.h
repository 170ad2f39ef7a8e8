// A checkpoint: a blob set of the kind "cpt checkpoint".
//   options, tree, counts   see learner_blobs.h; rank 0 writes them
//   state           where the run stands (cereal), after the number of its format
//   weights-NNNNN   the used rows of some partitions (see weights_blob.h), written by one rank
//   partitions      for every partition the blob that holds it, and where in there (cereal)
// See store/blob/format.md for the bytes.
//
// What holds of checkpoints, by the numbers that code and tests cite (C1, C2, C3 and C8 see store/checkpoints.h):
//   C4 A run that differs from the checkpoint where it matters is refused, with both values.
//   C5 Tree and labels are equal on all ranks when it is written, and weights where all have them. Its parts are keyed
//      by partition and by shard, never by rank, so any number of ranks can go on from it.
//   C6 Cursors lie between examples, and count those that were learned.
//   C7 A run that goes on from it leaves the bytes of one that was never stopped: on any number of ranks where each
//      owns a part of the weights, on the same number where each has all.
//   C9 One format is read: older and newer ones are refused by number.
#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <memory>

#include "api/checkpoint/run_state.h"
#include "model/learning/learner.h"

namespace cpt {

inline constexpr const char* kCheckpointKind = "cpt checkpoint";

// All throw Error(kNoInput) if there is no finished checkpoint, Error(kBadData) if it is damaged or not one, or of
// another format (C3, C9).
RunState read_run_state(const std::filesystem::path& checkpoint);
std::uint64_t bytes_of_checkpoint(const std::filesystem::path& checkpoint);
// Reads all of it, and returns its bytes. Throws as they do.
std::uint64_t verify_checkpoint(const std::filesystem::path& checkpoint);
// With the weights of the wanted partitions; lines of others are zero, and what holds them is not read.
std::unique_ptr<Learner> load_checkpoint(const std::filesystem::path& checkpoint,
                                         const std::function<bool(Partition)>& wanted);

}  // namespace cpt
