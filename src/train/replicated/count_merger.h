// The merge of what ranks counted, for the method `table`: at an sync point every rank adds what the others counted
// since the last one. Counts are whole numbers, so all ranks then hold the counts that one rank would have, exactly.
#pragma once

#include <cstdint>
#include <vector>

#include "comm/communicator.h"
#include "model/learning/learner.h"

namespace cpt {

// Does nothing, and calls nobody, where the method counts nothing.
class CountMerger {
 public:
  // What all ranks together send in one segment, unless told otherwise: bounds the memory that a merge takes.
  static constexpr std::uint64_t kSegmentBytes = std::uint64_t{64} << 20;

  CountMerger(Communicator& comm, Learner& learner, std::uint64_t segment_bytes = kSegmentBytes);

  // Before the learner counts a path_state's example.
  void note(const PathState& path_state);

  // All ranks call it. 24 bytes go to every other rank for each pair that this one counted since the last merge, in
  // segments. Then digests of all counts are compared: throws AgreedError if they differ.
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
  void compare_digests();

  Communicator& comm_;
  Learner& learner_;
  std::uint64_t segment_bytes_;
  std::vector<Record> added_;  // since the last merge
};

}  // namespace cpt
