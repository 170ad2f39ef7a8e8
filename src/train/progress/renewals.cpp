#include "train/progress/renewals.h"

#include <algorithm>
#include <cstddef>
#include <numeric>
#include <span>
#include <utility>
#include <vector>

#include "comm/collectives.h"
#include "core/checked.h"

namespace cpt {

StreamOffset offset_after(const StreamOffset& offset, std::uint64_t lines,
                          const std::vector<ShardPosition>& positions) {
  std::vector<std::uint32_t> active;
  for (const ShardPosition& at : positions) {
    const bool is_before = at.shard < offset.shard;  // its line at the position of `offset` comes before it
    if (at.position >= offset.position + (is_before ? 1 : 0)) active.push_back(static_cast<std::uint32_t>(at.shard));
  }
  if (active.empty()) return Renewals::kNever;
  std::ranges::sort(active);
  const auto passed = static_cast<std::uint64_t>(std::ranges::lower_bound(active, offset.shard) - active.begin());
  const std::uint64_t turns = passed + lines;
  const std::size_t next = turns % active.size();
  return {offset.position + turns / active.size(), next == 0 ? 0 : active[next]};
}

void Renewals::begin_pass(std::uint64_t lines, bool learning, std::uint64_t validation) {
  end();
  validation_due_ = false;
  if (!learning) return;
  validation_ = validation;
  if (counts_.used()) {
    const std::uint64_t interval = renewal_interval(counts_.examples());
    lines_ = lines != 0 ? lines : std::max<std::uint64_t>(interval - std::min(interval, counts_.examples_since()), 1);
  }
  if (lines_ != 0 || validation_ != 0) next_ = {};
}

void Renewals::end() {
  lines_ = 0;
  validation_ = 0;
  next_ = kNever;
}

// Renews, or begins or ends counting, where that is due after `lines` of the pass. The lines until the next such stop.
std::uint64_t Renewals::lines_until_stop(std::uint64_t lines) {
  if (!counts_.used()) return BatchReader::kNoPosition;
  if (lines >= lines_) {
    share();
    counts_.renew();
    lines_ = lines + renewal_interval(counts_.examples());
  }
  const std::uint64_t interval = renewal_interval(counts_.examples());
  const std::uint64_t since = interval - std::min(interval, lines_ - lines);
  counts_.update_counting(since);
  const std::uint64_t counted = counted_examples(interval);
  return since < counted ? counted - since : interval - since;
}

void Renewals::stop_at(const StreamOffset& offset, BatchReader& reader) {
  const std::vector<ShardPosition> mine = reader.positions();
  const auto all = all_gather_bytes(comm_, std::as_bytes(std::span(mine)), "renewal: positions");
  std::vector<ShardPosition> positions;
  std::uint64_t lines = 0;
  for (const auto& bytes : all) {
    const std::vector<ShardPosition> of_rank = array_of<ShardPosition>(bytes);
    positions.insert(positions.end(), of_rank.begin(), of_rank.end());
  }
  std::uint64_t furthest = 1;
  for (const ShardPosition& at : positions) {
    lines += at.position;
    furthest = std::max(furthest, at.position);
  }
  std::uint64_t next = lines_until_stop(lines);
  validation_due_ = is_validation(lines);
  if (validation_due_) return;
  if (validation_ != 0) next = std::min(next, validation_ - lines);
  // A pass that was resumed begins anywhere.
  next_ = offset_after(std::max(offset, StreamOffset{furthest - 1}), next, positions);
}

void Renewals::renew_if_due() {
  share();
  counts_.renew_if_due();
}

void Renewals::share() {
  if (!counts_.used() || comm_.size() == 1) return;
  const FeatureCounts::Added mine = counts_.take_added();
  const std::vector<std::uint64_t> examples = all_gather_value(comm_, mine.examples, "renewal: examples");
  counts_.grow(std::reduce(examples.begin(), examples.end()) - mine.examples);
  // One rank adds up a feature, so a rank sends and receives little more if there are more ranks.
  add_up(mine.features);
  const FeatureCounts::Added sums = counts_.take_added();
  for (const auto& bytes : all_gather_bytes(comm_, std::as_bytes(std::span(sums.features)), "renewal: sums")) {
    counts_.grow(array_of<CountedFeature>(bytes));
  }
}

// Sends what this rank has counted of each feature to the rank that adds it up, and adds what the others send.
void Renewals::add_up(const std::vector<CountedFeature>& features) {
  const auto self = static_cast<std::size_t>(comm_.rank());
  std::vector<std::vector<CountedFeature>> by_rank(static_cast<std::size_t>(comm_.size()));
  for (const CountedFeature& feature : features) by_rank[feature.index % by_rank.size()].push_back(feature);
  std::vector<Outgoing> outgoing;
  std::vector<Incoming> incoming;
  for (std::size_t r = 0; r < by_rank.size(); ++r) {
    if (r == self) continue;
    outgoing.push_back({static_cast<int>(r), std::as_bytes(std::span(by_rank[r]))});
    incoming.push_back({static_cast<int>(r), {}});
  }
  comm_.wait(*comm_.start_delivery(std::move(outgoing), incoming), "renewal: features");
  counts_.add(by_rank[self]);
  for (const Incoming& message : incoming) counts_.add(array_of<CountedFeature>(message.bytes.bytes()));
}

void Renewals::end_pass() {
  renew_if_due();
  end();
}

}  // namespace cpt
