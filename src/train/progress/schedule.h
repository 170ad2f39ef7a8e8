// When rounds, sync intervals and reports end, as functions of figures that are the same on all ranks.
#pragma once

#include <cstdint>

#include "api/checkpoint/run_state.h"

namespace cpt {

// The number of examples that each of `ranks` replicas takes in the next round. Few while there are few labels, so that
// few new labels share a round; more as the tree grows, up to a length beyond which the cost of a round is negligible.
std::uint64_t round_length(std::uint64_t labels, int ranks);

// The number of examples that all partitioned ranks together take in the next round. It affects speed only. Ranks that
// share cores (see ranks_per_core()) get longer rounds, because each round costs them several context switches.
std::uint64_t partitioned_round_length(std::uint64_t labels, int ranks, int ranks_per_core);

// What rounds of the partitioned placement held, over all ranks.
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

// Decides when a sync interval ends.
class SyncSchedule {
 public:
  SyncSchedule(double fraction, std::uint64_t examples, SyncCounts counts = {})
      : fraction_(fraction), fixed_(examples), counts_(counts) {}

  // Counts examples that all ranks have learned. True if a sync interval ends with them.
  bool advance(std::uint64_t examples);
  // What advance() would return.
  bool would_end(std::uint64_t examples) const;
  // Ends the sync interval here, as at the end of a pass. False if the interval is empty.
  bool finish();

  const SyncCounts& counts() const { return counts_; }

 private:
  double fraction_;
  std::uint64_t fixed_;
  SyncCounts counts_;
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
