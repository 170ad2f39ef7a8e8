// When rounds, sync intervals and reports end, as functions of figures that are the same on all ranks.
#pragma once

#include <cstdint>
#include <limits>

#include "api/checkpoint/run_state.h"
#include "cpt/trainer.h"

namespace cpt {

// The number of examples that each of `ranks` replicas takes in the next round. Few while there are few labels, so that
// few new labels share a round; more as the tree grows, up to a length beyond which the cost of a round is negligible.
std::uint64_t round_length(std::uint64_t labels, int ranks);

// The number of examples that all partitioned ranks together take in the next round. It affects speed only. Ranks that
// share cores (see ranks_per_core()) get longer rounds, because each round costs them several context switches.
std::uint64_t partitioned_round_length(std::uint64_t labels, int ranks, int ranks_per_core);

// The contents of rounds of the partitioned placement, over all ranks.
struct RoundContents {
  std::uint64_t examples = 0;
  std::uint64_t features = 0;
  std::uint64_t readers = 0;  // ranks that had examples

  RoundContents& operator+=(const RoundContents& other);
};

// The number of examples that a round may hold so that each reader's examples fit its shared ring and all of them fit
// rank 0's memory: about 2^17 features per reader and 2^21 in all, if the examples stay like the earlier ones. At least
// 1; few if there are no earlier ones.
std::uint64_t most_round_examples(const RoundContents& earlier);

// The rows of a sync interval so far, over all ranks.
struct IntervalRows {
  std::uint64_t to_merge = 0;  // as many as a merge would send now
  std::uint64_t trained = 0;   // row updates
};

// When a sync interval ends: after a number of examples; if that is 0, after a fraction of all examples; if that is 0,
// too, by cost: from the fraction `shortest` of all examples on, as soon as `trained_per_merged` times as many rows
// were trained on all ranks as are to be merged; at the latest after the fraction `longest`, or after `most_trained`
// row updates. Ever fewer rows are new to an interval as it grows. A clock would not decide alike in every run.
struct SyncRule {
  std::uint64_t examples = 0;
  double fraction = 0;
  std::uint64_t trained_per_merged = 1;
  double shortest = 0;
  double longest = 1;
  std::uint64_t most_trained = std::numeric_limits<std::uint64_t>::max();
};

// The rule of these options. `merges`: whether ranks merge rows at sync points. By default as soon as each rank takes
// at most a quarter as many merged rows as it has trained, but not before 2 % of all examples; at the latest when the
// examples have doubled, or the ranks have trained 2^28 rows each, on average: checkpoints wait for sync points, and so
// many rows take some seconds.
SyncRule sync_rule(const TrainingOptions& options, bool merges, int ranks);

// Decides when sync intervals end.
class SyncSchedule {
 public:
  explicit SyncSchedule(const SyncRule& rule, SyncCounts counts = {}) : rule_(rule), counts_(counts) {}

  // Sets the rows of this interval, as of the latest headers. An interval begins without rows.
  void set_rows(const IntervalRows& rows) { rows_ = rows; }
  // Counts examples that all ranks have learned. True if a sync interval ends with them.
  bool advance(std::uint64_t examples);
  // What advance() would return.
  bool would_end(std::uint64_t examples) const;
  // Ends the sync interval here, as at the end of a pass. False if the interval is empty.
  bool finish();

  const SyncCounts& counts() const { return counts_; }

 private:
  bool covers(double fraction, std::uint64_t examples) const;
  bool merge_is_cheap() const;
  void begin_interval();

  SyncRule rule_;
  SyncCounts counts_;
  IntervalRows rows_;
};

// Reports come at 1, 2, 4, 8, ... examples.
class ReportSchedule {
 public:
  explicit ReportSchedule(std::uint64_t next = 1) : next_(next) {}

  std::uint64_t next() const { return next_; }
  // True if a report is due. The next one is due at the next power of two above `examples`.
  bool due(std::uint64_t examples);

 private:
  std::uint64_t next_;
};

}  // namespace cpt
