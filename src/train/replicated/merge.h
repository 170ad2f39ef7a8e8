// The sync interval merge: an allreduce of weights that we define ourselves, because the order of additions, the
// handling of untouched rows and the size of messages are ours to fix.
#pragma once

#include <cstdint>
#include <vector>

#include "comm/communicator.h"
#include "cpt/trainer.h"
#include "model/learning/learner.h"
#include "train/replicated/touched_rows.h"

namespace cpt {

// Replicas are equal after every merge, by induction: they start equal, and a row that any rank touched is replaced on
// all ranks by one that a single rank computed.
class WeightMerger {
 public:
  // What all ranks together send in one segment, unless told otherwise. It bounds the memory that a merge takes on a
  // rank: up to three times as much, besides what TouchedRows keeps.
  static constexpr std::uint64_t kSegmentBytes = std::uint64_t{64} << 20;

  WeightMerger(Communicator& comm, Learner& learner, MergeRule rule, std::uint64_t segment_bytes = kSegmentBytes);

  // Before the rows of a path_state change.
  void touch(const PathState& path_state) { touched_.touch(path_state.rows); }

  // All ranks call it. Each row that was touched is merged by one rank, which is told of it by all that touched it and
  // tells the result to all: 72 bytes per touched row and rank go out, 72 per row touched anywhere come in, in
  // segments. Then trees and the merged rows, as they were before and as they are now, are compared by digest. Throws
  // AgreedError if a merged weight is not finite or if digests differ.
  void merge();

 private:
  struct Record {
    std::uint64_t index;
    Row row;
  };
  static_assert(sizeof(Record) == 72);

  double growth_per_update();
  std::uint64_t agree_on_segments();
  void merge_segment(std::uint64_t segment, std::uint64_t segments, double unit);
  std::vector<std::vector<Record>> records_by_reducer(std::uint64_t segment, std::uint64_t segments);
  std::vector<Record> reduce(const std::vector<std::vector<Record>>& from_ranks, double unit);
  const Row& before(std::uint64_t index);
  void install(const std::vector<Record>& merged);
  void compare_digests();

  Communicator& comm_;
  Learner& learner_;
  MergeRule rule_;
  std::uint64_t segment_bytes_;
  TouchedRows touched_;
  std::uint64_t merged_digest_ = 0;  // of the rows of this merge, before and after it
  bool finite_ = true;
};

}  // namespace cpt
