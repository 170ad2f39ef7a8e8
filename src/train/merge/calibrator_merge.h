// The merge of the replicas' calibrators at a sync point.
#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <vector>

#include "comm/communicator.h"
#include "core/hashing/id_map.h"
#include "model/learning/learner.h"
#include "model/weights/calibrators.h"

namespace cpt {

// How often each node of a block has learned, by lane.
using NodeVisits = std::array<std::uint64_t, kLanes>;

// A block's calibrator as a rank has it.
struct CalibratorOfRank {
  NodeVisits visits{};  // since the last merge
  Calibrator calibrator;
};

// Returns for each node the mean of the ranks' calibrators, weighted by their visits; a node without visits stays as it
// is. The mean of positive definite covariances is positive definite. `ranks`: those that have visited the block, at
// least one.
Calibrator merge_calibrators(std::span<const CalibratorOfRank* const> ranks);

// Replicas are equal after every merge, as those of WeightMerger. Does nothing, and calls no collective, if the model
// has no calibrators. Borrows its arguments.
class CalibratorMerger {
 public:
  // The bytes that all ranks together send in a segment: they bound the memory of a merge.
  static constexpr std::uint64_t kSegmentBytes = std::uint64_t{64} << 20;

  CalibratorMerger(Communicator& comm, Learner& learner, std::uint64_t segment_bytes = kSegmentBytes);

  // To be called before a path is trained.
  void touch(const PathState& path_state);
  // The rows of the calibrators that were touched since the last merge.
  std::uint64_t touched_rows() const { return visited_.size() * Calibrator::kNumbers; }

  // Collective. One rank merges the calibrators of a block, and sends the result to all.
  void merge();

 private:
  struct Record {
    std::uint64_t key;
    std::uint64_t partition;
    CalibratorOfRank of_rank;
  };
  struct Visited {
    Partition partition = 0;
    NodeVisits visits{};
  };

  void merge_segment(std::uint64_t segment, std::uint64_t segments);
  std::vector<std::vector<Record>> records_by_reducer(std::uint64_t segment, std::uint64_t segments) const;
  static std::vector<Record> reduce(const std::vector<Record>& received);

  Communicator& comm_;
  Learner& learner_;
  std::uint64_t segment_bytes_;
  IdMap<std::uint64_t> blocks_;   // their keys, in the order of their first visits
  std::vector<Visited> visited_;  // parallel to them
};

}  // namespace cpt
