// When things happen, as functions of what all ranks know.
#pragma once

#include <cstdint>

#include "api/checkpoint/run_state.h"

namespace cpt {

// Examples that one of `ranks` ranks takes in the next round: few while labels pour in, so that few of them share a
// round, and more as the tree grows, up to a cap beyond which rounds cost nothing any more.
std::uint64_t round_length(std::uint64_t labels, int ranks);

// The same for the partitioned placement, where it changes nothing but speed: examples that all ranks together take.
// Where ranks share cores (see ranks_per_core()) rounds are longer, because each costs them several changes of process.
std::uint64_t partitioned_round_length(std::uint64_t labels, int ranks, int ranks_per_core);

// What a round of the partitioned placement has held, of all ranks together.
struct RoundContents {
  std::uint64_t examples = 0;
  std::uint64_t features = 0;
  std::uint64_t readers = 0;  // ranks that had examples

  RoundContents& operator+=(const RoundContents& other);
};

// How many examples a round may hold, so that those of a reader fit on its shelf and those of all into rank 0's memory,
// which gets them: about 2^17 features of each reader and 2^21 of all, where examples go on as they were. At least one;
// few where nothing is known of them.
std::uint64_t most_round_examples(const RoundContents& earlier);

// When the weights of the ranks merge.
class SyncSchedule {
 public:
  SyncSchedule(double fraction, std::uint64_t examples, SyncCounts counts = {})
      : fraction_(fraction), fixed_(examples), counts_(counts) {}

  // Examples learned by all ranks together. True if an sync interval ends with them.
  bool advance(std::uint64_t examples);
  // What advance() would say.
  bool would_end(std::uint64_t examples) const;
  // An sync interval ends here in any case (the end of a pass). False if it would be an empty one.
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
  // True if a report is due; the one after it is then due at the next power of two above `examples`.
  bool due(std::uint64_t examples);

 private:
  std::uint64_t next_;
};

}  // namespace cpt
