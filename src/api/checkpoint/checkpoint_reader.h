// A checkpoint: a blob set of the kind "cpt checkpoint".
//   options, tree, counts, features, input
//                   see learner_blobs.h; written by rank 0
//   state           the state of the run (cereal), after the number of its format
//   weights-NNNNN   the used rows of some partitions (see weights_blob.h), written by one rank
//   partitions      the blob and offset of every partition (cereal)
// store/blob/format.md describes the bytes.
//
// The invariants of checkpoints, by the numbers that code and tests cite (for C1, C2, C3 and C8 see
// store/run/checkpoints.h):
//   C4 A run that differs from the checkpoint where it matters is refused, with both values.
//   C5 Tree and labels are equal on all ranks when it is written, and so are replicated weights. Its parts are keyed by
//      partition and by shard, never by rank, so any number of ranks can continue from it.
//   C6 Cursors lie between lines, and their counts sum to the examples that were learned.
//   C7 A run that continues from it leaves the bytes of a run that never stopped: partitioned on any number of ranks,
//      hybrid and replicated on the same number.
//   C9 The formats kOldestStateFormat to kStateFormat are read; older and newer ones are refused by number.
#pragma once

#include <array>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <memory>
#include <string>

#include "api/checkpoint/run_state.h"
#include "model/learning/learner.h"
#include "model/tree/partition.h"
#include "store/blob/blob_set.h"

namespace cpt {

inline constexpr const char* kCheckpointKind = "cpt checkpoint";

// The blob that holds the weights of a partition, and their part of its raw bytes.
struct StoredPartition {
  Partition partition = 0;
  std::string blob;
  std::uint64_t offset = 0;
  std::uint64_t bytes = 0;

  template <class Archive>
  void serialize(Archive& archive) {
    archive(partition, blob, offset, bytes);
  }
};

using StoredPartitions = std::vector<StoredPartition>;  // by partition

// The blob "partitions" of a checkpoint. The partitions of a blob ascend and fill it without gaps or overlaps; throws
// Error(kBadData) otherwise.
StoredPartitions read_stored_partitions(const BlobSetReader& checkpoint);

// All throw Error(kNoInput) if there is no finished checkpoint, and Error(kBadData) if it is damaged, of another kind,
// or of a format that is not read (C3, C9).
RunState read_run_state(const std::filesystem::path& checkpoint);
std::uint64_t bytes_of_checkpoint(const std::filesystem::path& checkpoint);
// Reads and verifies all of it; returns its size in bytes.
std::uint64_t verify_checkpoint(const std::filesystem::path& checkpoint);
// Loads the weights of the wanted partitions only; rows of others are zero, and their weights are not read.
std::unique_ptr<Learner> load_checkpoint(const std::filesystem::path& checkpoint,
                                         const std::function<bool(Partition)>& wanted);

}  // namespace cpt
