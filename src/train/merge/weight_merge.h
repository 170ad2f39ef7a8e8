// The merge of the ranks' weights at a sync point: an allreduce with its own order of additions, its own handling of
// untouched rows, and messages of bounded size.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "comm/communicator.h"
#include "cpt/trainer.h"
#include "model/learning/learner.h"
#include "model/weights/weight_table.h"
#include "train/merge/row_exchange.h"
#include "train/merge/rows_before.h"
#include "train/merge/touched_rows.h"

namespace cpt {

// A row as a rank has changed it.
using RowOfRank = const Row*;

// The merged row. `before` is its content at the last merge; `now` that of the ranks that changed it, in rank order, at
// least one. `unit`, used by kContraction only, is the mean growth of lane 0 per update of a row in this sync interval,
// > 0. A row that only one rank changed is taken as it is, except by kAverage. If lane 0 grew on no rank, all changes
// have the same weight.
Row merge_row(MergeRule rule, const Row& before, std::span<const RowOfRank> now, int ranks, double unit);

// Replicas are equal after every merge, by induction: they start equal, and a row that any rank touched is replaced on
// all ranks by one that a single rank computed.
class WeightMerger {
 public:
  // About the most bytes of rows that a rank sends to be reduced in a segment. They bound the memory of a merge on a
  // rank, besides RowsBefore: this much for its own rows, and this much for each rank that sends it messages. Segments
  // that fit the caches halve the time of a merge.
  static constexpr std::uint64_t kSegmentBytes = std::uint64_t{2} << 20;

  // Merges the rows of these regions, which are the same on all ranks.
  WeightMerger(Communicator& comm, Learner& learner, MergeRule rule, const std::vector<Region>& regions,
               std::uint64_t segment_bytes = kSegmentBytes);

  // To be called before the rows of a path change.
  void touch(const PathState& path_state) { touched_.touch(path_state.rows); }

  // The rows that touch() has marked since the last merge.
  const TouchedRows& touched() const { return touched_; }

  // Collective. Each touched row is merged by one rank, which receives it from all ranks that touched it and sends the
  // result to all, in segments. A rank of another host sends 72 bytes per touched row that this rank merges, and 72 per
  // changed row that it merges itself. Ranks of one host read each other's rows in place. Then the ranks compare the
  // trees, and digests that show whether each rank had, unchanged since the last merge, the merged rows that it did not
  // touch. Throws AgreedError if a merged weight is not finite or if digests differ.
  void merge();

 private:
  // Used in turn, so that no rank has to wait until all have read its records: once one exchange is done, all ranks
  // have read the records of the other.
  struct Exchanges {
    RowExchange to_reducers;
    RowExchange to_all;
  };
  struct SentRow {
    std::size_t rank;
    RowOfRank now;
  };
  struct ToCombine {
    std::uint64_t index;
    std::size_t ranks;  // that touched the row; what they sent comes next in sent_rows_
  };
  static constexpr std::size_t kCombinedTogether = 32;

  double growth_per_update();
  std::uint64_t agree_on_segments();
  void merge_segment(std::uint64_t segment, std::uint64_t segments, double unit);
  void collect(std::uint64_t segment, std::uint64_t segments);
  void check_index(std::uint64_t index) const;
  void reduce(const RecordsOfRanks& from_ranks, double unit);
  void combine_rows(double unit);
  void install(RowRecords merged);
  void compare_digests();

  Communicator& comm_;
  Learner& learner_;
  MergeRule rule_;
  std::uint64_t segment_bytes_;
  RowDealing dealing_;
  TouchedRows touched_;
  RowsBefore before_;
  std::optional<Exchanges> exchanges_;  // from the first merge on
  // Digests of the rows of this merge as they were before it.
  std::uint64_t untouched_digest_ = 0;          // of those that this rank did not touch, as it had them
  std::uint64_t merged_digest_ = 0;             // of those that this rank merges
  std::vector<std::uint64_t> touched_digests_;  // of these, by rank, those that the rank touched
  bool finite_ = true;
  // The state of one segment; members, because the system need not clear memory that is used again.
  std::vector<std::uint64_t> indices_;  // of touched rows, ascending
  RecordsOfRanks to_ranks_;             // by reducer
  std::span<RowRecord> merged_;         // the first merged_rows_ are filled in
  std::size_t merged_rows_ = 0;
  std::vector<SentRow> sent_rows_;
  std::vector<RowOfRank> changed_rows_;
  std::vector<ToCombine> to_combine_;
};

}  // namespace cpt
