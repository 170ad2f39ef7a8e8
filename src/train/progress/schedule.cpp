#include "train/progress/schedule.h"

#include <algorithm>

namespace cpt {

namespace {

constexpr std::uint64_t kShortestRound = 4;
constexpr std::uint64_t kLongestRound = 1024;
// Labels in the tree per example of a round, all ranks together.
constexpr std::uint64_t kLabelsPerExample = 4;
// In the partitioned placement a new label reaches all ranks some rounds later.
constexpr std::uint64_t kShortestPartitionedRound = 32;
constexpr std::uint64_t kLongestPartitionedRound = 1024;
// Of all ranks that share cores. Bounded because rank 0 holds the examples of several rounds.
constexpr std::uint64_t kLongestSharedRound = std::uint64_t{1} << 16;
constexpr std::uint64_t kMostFeaturesOfReader = std::uint64_t{1} << 17;
constexpr std::uint64_t kMostFeaturesOfRound = std::uint64_t{1} << 21;
constexpr RoundContents kUnknown{.examples = 1, .features = 1024, .readers = 1};
// A merge sends whole rows between all ranks, which would dominate shorter sync intervals.
constexpr std::uint64_t kShortestInterval = 1000;
// Sync intervals without merges, in which balancing and counts cost little, and the shortest ones with merges: a merge
// of few rows costs more than its rows, because ranks wait for one another.
constexpr double kDefaultFraction = 0.02;
// Merges. Every merged row goes to all ranks, but each rank trains only its share. With 2 instead of 4, two replicas
// had merged 20 times after 2 M examples of novels instead of 13: 0.2 percent less log loss (nvd: 1.4), at 0.77 of the
// speed. From four replicas on, examples mostly double first.
constexpr std::uint64_t kTrainedPerMergedOfRank = 4;
constexpr double kLongestFraction = 0.5;
constexpr std::uint64_t kMostTrainedOfRank = std::uint64_t{1} << 28;

}  // namespace

std::uint64_t round_length(std::uint64_t labels, int ranks) {
  const std::uint64_t share = labels / kLabelsPerExample / static_cast<std::uint64_t>(ranks);
  return std::clamp(share, kShortestRound, kLongestRound);
}

std::uint64_t partitioned_round_length(std::uint64_t labels, int ranks, int ranks_per_core) {
  const auto all = static_cast<std::uint64_t>(ranks);
  const std::uint64_t alone = all * kLongestPartitionedRound;
  const std::uint64_t longest = std::min(alone * static_cast<std::uint64_t>(ranks_per_core), kLongestSharedRound);
  return std::min(all * std::max(labels / kLabelsPerExample, kShortestPartitionedRound), std::max(alone, longest));
}

RoundContents& RoundContents::operator+=(const RoundContents& other) {
  examples += other.examples;
  features += other.features;
  readers += other.readers;
  return *this;
}

std::uint64_t most_round_examples(const RoundContents& earlier) {
  const RoundContents& known = earlier.features == 0 ? kUnknown : earlier;
  const std::uint64_t features = std::min(kMostFeaturesOfReader * known.readers, kMostFeaturesOfRound);
  const std::uint64_t of_example = (known.features + known.examples - 1) / known.examples;
  return std::max<std::uint64_t>(features / of_example, 1);
}

SyncRule sync_rule(const TrainingOptions& options, bool merges, int ranks) {
  if (options.sync_examples != 0) return {.examples = options.sync_examples};
  if (options.sync_fraction != 0) return {.fraction = options.sync_fraction};
  if (!merges) return {.fraction = kDefaultFraction};
  const auto all = static_cast<std::uint64_t>(ranks);
  return {.trained_per_merged = kTrainedPerMergedOfRank * all,
          .shortest = kDefaultFraction,
          .longest = kLongestFraction,
          .most_trained = kMostTrainedOfRank * all};
}

bool SyncSchedule::would_end(std::uint64_t examples) const {
  const std::uint64_t in_interval = counts_.in_interval + examples;
  if (rule_.examples != 0) return in_interval >= rule_.examples;
  if (in_interval < kShortestInterval) return false;
  if (rule_.fraction != 0) return covers(rule_.fraction, examples);
  return (merge_is_cheap() && covers(rule_.shortest, examples)) || covers(rule_.longest, examples) ||
         rows_.trained >= rule_.most_trained;
}

// Whether the sync interval is at least this fraction of all examples.
bool SyncSchedule::covers(double fraction, std::uint64_t examples) const {
  return static_cast<double>(counts_.in_interval + examples) >= fraction * static_cast<double>(counts_.all + examples);
}

bool SyncSchedule::merge_is_cheap() const {
  return rows_.trained > 0 && rows_.to_merge <= rows_.trained / rule_.trained_per_merged;
}

bool SyncSchedule::advance(std::uint64_t examples) {
  const bool due = would_end(examples);
  counts_.in_interval += examples;
  counts_.all += examples;
  if (due) begin_interval();
  return due;
}

bool SyncSchedule::finish() {
  const bool due = counts_.in_interval > 0;
  begin_interval();
  return due;
}

void SyncSchedule::begin_interval() {
  counts_.in_interval = 0;
  rows_ = {};
}

bool ReportSchedule::due(std::uint64_t examples) {
  if (examples < next_) return false;
  while (next_ <= examples) next_ *= 2;
  return true;
}

}  // namespace cpt
