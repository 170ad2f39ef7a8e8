// The merge of the replicas' calibrators at a sync point.
#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <vector>

#include "comm/communicator.h"
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

// For each node the mean of what the ranks have, weighted by their visits; a node that none has visited stays as it is.
// A mean of covariances is positive definite, as they are. `ranks`: those that have visited the block, at least one.
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
    std::uint64_t key = 0;
    Partition partition = 0;
    NodeVisits visits{};
  };

  struct Slot {
    std::uint64_t key = 0;
    std::size_t number = 0;  // in visited_, plus 1; 0: free
  };

  Visited& visited(const Calibration& calibration);
  Slot& slot_of(std::uint64_t key);
  void grow();
  void merge_segment(std::uint64_t segment, std::uint64_t segments);
  std::vector<std::vector<Record>> records_by_reducer(std::uint64_t segment, std::uint64_t segments) const;
  static std::vector<Record> reduce(const std::vector<Record>& received);

  Communicator& comm_;
  Learner& learner_;
  std::uint64_t segment_bytes_;
  std::vector<Visited> visited_;  // blocks, in the order of their first visits
  std::vector<Slot> slots_;       // a hash table, as the one of Calibrators
};

}  // namespace cpt
