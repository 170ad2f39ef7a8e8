#include "train/merge/count_merge.h"

#include <algorithm>
#include <span>
#include <tuple>

#include "comm/agreement.h"
#include "comm/collectives.h"
#include "cpt/error.h"

namespace cpt {

CountMerger::CountMerger(Communicator& comm, Learner& learner, std::uint64_t segment_bytes)
    : comm_(comm), learner_(learner), segment_bytes_(segment_bytes) {}

void CountMerger::note(const PathState& path_state) {
  if (!learner_.uses_frequencies()) return;
  added_.push_back({path_state.key, path_state.label, units_of(path_state.example.importance)});
}

void CountMerger::merge() {
  if (!learner_.uses_frequencies()) return;
  join_equal_pairs();
  const std::uint64_t in_segment =
      std::max<std::uint64_t>(segment_bytes_ / sizeof(Record) / static_cast<std::uint64_t>(comm_.size()), 1);
  const std::uint64_t segments = agree_on_segments(in_segment);
  for (std::uint64_t segment = 0; segment < segments; ++segment) {
    merge_segment(segment * in_segment, (segment + 1) * in_segment);
  }
  added_.clear();
  require_equal(comm_, {{"other counts", learner_.frequencies().digest()}}, "merge: counts");
}

void CountMerger::join_equal_pairs() {
  const auto pair_of = [](const Record& record) { return std::tie(record.key, record.label); };
  std::ranges::sort(added_, [&](const Record& a, const Record& b) { return pair_of(a) < pair_of(b); });
  std::size_t joined = 0;
  for (const Record& record : added_) {
    if (joined > 0 && pair_of(added_[joined - 1]) == pair_of(record)) {
      added_[joined - 1].units = saturating_sum(added_[joined - 1].units, record.units);
    } else {
      added_[joined++] = record;
    }
  }
  added_.resize(joined);
}

std::uint64_t CountMerger::agree_on_segments(std::uint64_t records_in_segment) {
  const std::uint64_t mine = added_.size();
  const std::vector<std::uint64_t> all = all_gather_value(comm_, mine, "merge: pairs");
  return (std::ranges::max(all) + records_in_segment - 1) / records_in_segment;
}

void CountMerger::merge_segment(std::uint64_t first, std::uint64_t last) {
  const std::span<const Record> all(added_);
  const std::uint64_t begin = std::min<std::uint64_t>(first, all.size());
  const std::uint64_t end = std::min<std::uint64_t>(last, all.size());
  const auto received = all_gather_bytes(comm_, std::as_bytes(all.subspan(begin, end - begin)), "merge: counts");
  for (std::size_t rank = 0; rank < received.size(); ++rank) {
    if (static_cast<int>(rank) == comm_.rank()) continue;  // this rank has its own counts
    for (const Record& record : array_of<Record>(received[rank])) {
      learner_.frequencies().add(record.key, static_cast<LabelId>(record.label), record.units);
    }
  }
}

}  // namespace cpt
