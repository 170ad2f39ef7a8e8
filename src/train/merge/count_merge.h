// The merge of the ranks' counts at a sync point.
#pragma once

#include <cstdint>
#include <vector>

#include "comm/communicator.h"
#include "model/learning/learner.h"

namespace cpt {

// For the method `table`: every rank adds what the others counted since the last merge. Counts are whole numbers, so
// all ranks then have exactly the counts of a job of one rank. Does nothing, and calls no collective, if the method has
// no counts.
class CountMerger {
 public:
  // The bytes that all ranks together send in a segment: they bound the memory of a merge.
  static constexpr std::uint64_t kSegmentBytes = std::uint64_t{64} << 20;

  CountMerger(Communicator& comm, Learner& learner, std::uint64_t segment_bytes = kSegmentBytes);

  // To be called before the learner counts the path's example.
  void note(const PathState& path_state);

  // Collective. A rank sends 24 bytes to every other rank for each pair that it counted since the last merge, in
  // segments. Then the ranks compare digests of all counts. Throws AgreedError if they differ.
  void merge();

 private:
  struct Record {
    std::uint64_t key;
    std::uint64_t label;
    Units units;
  };

  void join_equal_pairs();
  std::uint64_t agree_on_segments(std::uint64_t records_in_segment);
  void merge_segment(std::uint64_t first, std::uint64_t last);

  Communicator& comm_;
  Learner& learner_;
  std::uint64_t segment_bytes_;
  std::vector<Record> added_;  // since the last merge
};

}  // namespace cpt
