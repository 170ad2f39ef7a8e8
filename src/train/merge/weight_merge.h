// The merge of the ranks' weights at a sync point: an allreduce with its own order of additions, its own handling of
// untouched rows, and messages of bounded size.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "comm/communicator.h"
#include "cpt/trainer.h"
#include "model/learning/learner.h"
#include "model/weights/weight_table.h"
#include "train/merge/touched_rows.h"

namespace cpt {

// A row as a rank has changed it.
using RowOfRank = const Row*;

// The merged row. `before` is its content at the last merge; `now` that of the ranks that touched it, in rank order, at
// least one. `unit`, used by kContraction only, is the mean growth of lane 0 per update of a row in this sync interval,
// > 0. A row that only one rank touched is taken as it is, except by kAverage. If lane 0 grew on no rank, all changes
// have the same weight.
Row merge_row(MergeRule rule, const Row& before, std::span<const RowOfRank> now, int ranks, double unit);

// Replicas are equal after every merge, by induction: they start equal, and a row that any rank touched is replaced on
// all ranks by one that a single rank computed.
class WeightMerger {
 public:
  // The most bytes of rows that a rank sends to be reduced in a segment, or a little more. They bound the memory of a
  // merge on a rank, besides TouchedRows: as much for its own rows and for each rank's. Segments that fit the caches
  // halve the time of a merge.
  static constexpr std::uint64_t kSegmentBytes = std::uint64_t{2} << 20;

  // Merges the rows of these regions, which are the same on all ranks.
  WeightMerger(Communicator& comm, Learner& learner, MergeRule rule, const std::vector<Region>& regions,
               std::uint64_t segment_bytes = kSegmentBytes);

  // To be called before the rows of a path change.
  void touch(const PathState& path_state) { touched_.touch(path_state.rows); }

  // What touch() has counted since the last merge.
  const TouchedRows& touched() const { return touched_; }

  // Collective. Each row that changed is merged by one rank, which receives it from all ranks that changed it and sends
  // the result to all: a rank sends 72 bytes per row that it changed and receives 72 per row changed anywhere, in
  // segments. Then the ranks compare digests of the trees and of what the merged rows were before. Throws AgreedError
  // if a merged weight is not finite or if digests differ.
  void merge();

 private:
  struct Record {
    std::uint64_t index;
    Row row;
  };
  static_assert(sizeof(Record) == 72);

  using Records = std::span<const Record>;
  using RecordsOfRanks = std::vector<Records>;  // by rank
  // A row that several ranks have changed.
  struct ToCombine {
    std::size_t merged;  // its position in merged_
    std::size_t ranks;   // how many; their rows come next in rows_of_ranks_
  };
  static constexpr std::size_t kCombinedTogether = 32;

  double growth_per_update();
  std::uint64_t agree_on_segments();
  void merge_segment(std::uint64_t segment, std::uint64_t segments, double unit);
  void collect(std::uint64_t segment, std::uint64_t segments);
  RecordsOfRanks exchange(const RecordsOfRanks& outgoing, const char* call);
  void reduce(const RecordsOfRanks& from_ranks, double unit);
  void combine_rows(double unit);
  void install(Records merged);
  void compare_digests();

  Communicator& comm_;
  Learner& learner_;
  MergeRule rule_;
  std::uint64_t segment_bytes_;
  TouchedRows touched_;
  std::uint64_t merged_digest_ = 0;  // of what the rows of this merge were before it
  bool finite_ = true;
  // Of one segment; members, because memory that is used again need not be cleared by the system again.
  std::vector<std::uint64_t> indices_;           // of touched rows, ascending
  std::vector<std::vector<Record>> to_ranks_;    // by reducer
  std::vector<std::vector<Record>> from_ranks_;  // by sender; only the first are in use
  std::vector<Record> merged_;
  std::vector<RowOfRank> rows_of_ranks_;
  std::vector<ToCombine> to_combine_;
};

}  // namespace cpt
