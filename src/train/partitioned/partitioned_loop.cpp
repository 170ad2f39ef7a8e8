#include "train/partitioned/partitioned_loop.h"

#include <algorithm>
#include <cstring>
#include <numeric>
#include <string>
#include <utility>

#include "comm/collectives.h"
#include "train/host/host.h"

namespace cpt {

namespace {

constexpr std::uint64_t kMostPositions = std::uint64_t{1} << 18;

std::vector<int> all_ranks(int ranks) {
  std::vector<int> all(static_cast<std::size_t>(ranks));
  std::iota(all.begin(), all.end(), 0);
  return all;
}

// This rank, if it has copies of the roots.
template <class Rank>
std::optional<Rank> rank_with_copies(Roots roots, const Communicator& comm) {
  return roots == Roots::kOwned ? std::nullopt : std::optional(static_cast<Rank>(comm.rank()));
}

std::vector<int> ranks_of_roots(const Owners& owners, Roots roots, const std::vector<int>& all) {
  if (roots == Roots::kOnEveryRank) return all;
  std::vector<int> ranks;
  for (std::size_t root = 0; root < owners.size(); root += kPartitions) ranks.push_back(owners[root]);
  std::ranges::sort(ranks);
  ranks.erase(std::unique(ranks.begin(), ranks.end()), ranks.end());
  return ranks;
}

// BatchReader::kNoPosition also where the reader fails: its error comes again with the next round.
std::uint64_t next_position(BatchReader& reader) {
  try {
    return reader.next_position();
  } catch (const std::exception&) {
    return BatchReader::kNoPosition;
  }
}

// The position of the first example of all ranks.
std::uint64_t first_position(Communicator& comm, BatchReader& reader) {
  const std::uint64_t mine = next_position(reader);
  std::uint64_t first = BatchReader::kNoPosition;
  for (std::uint64_t one : all_gather_value(comm, mine, "pass: first position")) first = std::min(first, one);
  return first == BatchReader::kNoPosition ? 0 : first;
}

}  // namespace

PartitionedLoop::PartitionedLoop(const TrainingOptions& options, Communicator& comm, Learner& learner,
                                 Progress& progress, SyncSchedule& sync_points, Renewals& renewals,
                                 SafePoint& safe_point)
    : options_(options),
      comm_(comm),
      learner_(learner),
      progress_(progress),
      all_ranks_(all_ranks(comm.size())),
      roots_(roots_of(options)),
      balancer_(comm, learner.options().trees, roots_),
      root_ranks_(ranks_of_roots(balancer_.owners(), roots_, all_ranks_)),
      owner_(learner, balancer_.owners(), comm.rank(), roots_),
      dispatcher_(learner, comm.size(), rank_with_copies<int>(roots_, comm)),
      coordinator_(learner, owner_.leads(), rank_with_copies<ReaderRank>(roots_, comm)),
      sync_schedule_(sync_points),
      renewals_(renewals),
      safe_point_(safe_point),
      tree_replicator_(comm, learner, owner_) {
  if (roots_ == Roots::kOwned) return;
  std::vector<Region> of_roots;
  for (std::size_t tree = 0; tree < learner.trees().size(); ++tree)
    of_roots.push_back(learner.weights().region(root_partition(tree)));
  mergers_.emplace(Mergers{WeightMerger(comm, learner, options.merge, of_roots), CalibratorMerger(comm, learner)});
  owner_.before_copies_change([this](const PathState& path_state) {
    mergers_->weights.touch(path_state);
    mergers_->calibrators.touch(path_state);
  });
}

std::uint64_t PartitionedLoop::run(BatchReader& reader, std::uint64_t shards, bool learning) {
  if (moving_) change_owners();  // decided at the end of the last pass, for which it would have come too late
  learning_ = learning;
  all_read_ = false;
  shards_ = shards;
  begin_rounds(reader);
  std::uint64_t bad_lines[] = {reader.bad_lines()};  // more than 0 if resumed
  sum_in_rank_order(comm_, bad_lines, "pass: bad lines");
  bad_lines_ = bad_lines[0];
  coordinator_.begin_pass(mergers_ ? progress_.losses().examples : progress_.examples());
  if (!ring_) {
    ring_.emplace(comm_);
    ranks_per_core_ = ranks_per_core(comm_);
  }
  while (!all_read_ || !rounds_.empty()) {
    const bool stops = is_to_stop();
    const bool reads = !all_read_ && !stops && !is_at_validation(reader);
    if (reads || !rounds_.empty()) step(reads ? &reader : nullptr);
    progress_.show(part_read_);
    if (std::exchange(stretch_ends_, false)) progress_.report_stretch(reader.part_read());
    if (!rounds_.empty()) continue;
    if (stops) {
      stop_at_safe_point(reader);
    } else if (renewals_.validation_due()) {
      break;
    }
  }
  drain();
  if (!learning_) return bad_lines_;
  merge_copies();
  const bool ends_interval = mergers_ || !renewals_.validation_due();
  if (ends_interval && sync_schedule_.finish()) progress_.count_sync();
  return bad_lines_;
}

// Stops where renewals say so, before anything is read.
bool PartitionedLoop::is_at_validation(BatchReader& reader) {
  while (!renewals_.validation_due() && !(offset_ < renewals_.next())) renewals_.stop_at(offset_, reader);
  return renewals_.validation_due();
}

// Where the ranks have read everything before some position and nothing after it.
void PartitionedLoop::begin_rounds(BatchReader& reader) {
  offset_ = {first_position(comm_, reader)};
  active_shards_ = shards_;
  latest_contents_ = {};
  part_read_ = 0;
}

// Whether nothing is read until no round is in progress.
bool PartitionedLoop::is_to_stop() const {
  if (!mergers_ || !learning_) return moving_ || requests_ != 0;
  return merging_ || (requests_ & RequestBits::kNow) != 0;  // otherwise all waits for the next merge
}

void PartitionedLoop::run_next_stage(Round& round) {
  switch (round.next) {
    case Round::Step::kRoot:
      pass_root(round);
      round.next = Round::Step::kLevel1;
      return;
    case Round::Step::kLevel1:
      pass_level1(round);
      round.next = Round::Step::kDeep;
      return;
    case Round::Step::kDeep:
      pass_deep(round);
      round.next = Round::Step::kClose;
      return;
    case Round::Step::kClose:
      close(round);
      round.next = Round::Step::kDone;
      return;
    case Round::Step::kDone:
      return;
  }
}

// The youngest rounds first: their messages were sent a step ago, and other ranks wait for what they send.
void PartitionedLoop::step(BatchReader* reader) {
  tree_replicator_.begin_step();
  const std::size_t in_progress = rounds_.size();
  if (reader != nullptr) read(*reader);
  for (std::size_t i = in_progress; i-- > 0;) run_next_stage(*rounds_[i]);
  if (rounds_.front()->next == Round::Step::kDone) {
    spare_.push_back(std::move(rounds_.front()));
    rounds_.pop_front();
  }
  balance();
}

void PartitionedLoop::read(BatchReader& reader) {
  if (spare_.empty()) spare_.push_back(std::make_unique<Round>(comm_.size(), learner_.trees().size()));
  rounds_.push_back(std::move(spare_.back()));
  spare_.pop_back();
  Round& round = *rounds_.back();
  round.clear();
  std::vector<Buffer>& messages = round.examples.outgoing();
  for (Buffer& message : messages) message.extend(sizeof(RoundHeader));

  RoundHeader header;
  const StreamOffset end = std::min(StreamOffset{offset_.position + round_positions()}, renewals_.next());
  guarded(round, [&] {
    dispatcher_.read(reader, offset_.position, end, {balancer_.owners(), *ring_, messages}, header, round.ledger,
                     learning_);
  });
  offset_ = end;
  const std::string warnings = join_warnings(comm_, reader.take_warnings());
  header.warning_bytes = warnings.size();
  messages[0].append(warnings.data(), warnings.size());
  header.bad_lines = reader.bad_lines();
  header.requests = safe_point_.requests() | (progress_.stretch_due() ? RequestBits::kStretch : 0);
  header.fault = encode_fault(failure_);
  const IntervalRows rows = rows_of_copies();
  header.rows_to_merge = rows.to_merge;
  header.rows_trained = rows.trained;
  header.part_read = reader.part_read();
  for (Buffer& message : messages) std::memcpy(message.data(), &header, sizeof header);
  round.examples.start(comm_, all_ranks_, all_ranks_);
}

// Of this rank, since the last merge.
IntervalRows PartitionedLoop::rows_of_copies() const {
  if (!mergers_) return {};
  return {.to_merge = mergers_->weights.touched().size() + mergers_->calibrators.touched_rows(),
          .trained = owner_.rows_below_copies() - mergers_->rows_at_last_merge};
}

std::uint64_t PartitionedLoop::round_positions() const {
  // The result may depend on the number of ranks, but not on where they run.
  const int ranks_per_core = mergers_ ? 1 : ranks_per_core_;
  const std::uint64_t wanted = options_.round_examples != 0 ? options_.round_examples
                                                            : partitioned_round_length(tree_replicator_.shared_labels(),
                                                                                       comm_.size(), ranks_per_core);
  const std::uint64_t examples = std::min(wanted, most_round_examples(latest_contents_));
  return std::clamp<std::uint64_t>(examples / std::max<std::uint64_t>(active_shards_, 1), 1, kMostPositions);
}

// Decides by the loads that were sent a step ago.
void PartitionedLoop::balance() {
  if (balancer_.is_to_decide()) {
    moving_ = balancer_.decide(learner_.weights());
    balance_ = balancer_.latest();
  }
  if (interval_ && !moving_) balancer_.end_interval(*interval_);
  interval_.reset();
}

void PartitionedLoop::stop_at_safe_point(BatchReader& reader) {
  drain();
  if (mergers_ && learning_) {
    merge_copies();
    begin_rounds(reader);
    renewals_.begin_again();
  }
  if (moving_ && !all_read_) change_owners();
  if (requests_ == 0) return;
  renewals_.share();
  safe_point_.pause(std::exchange(requests_, 0), reader.cursors());
}

void PartitionedLoop::change_owners() {
  progress_.report_moves(*balance_, balancer_.latest_interval());
  balancer_.move(learner_.weights());
  partitions_moved_ += balance_->moves.size();
  owner_.adopt(balancer_.owners());
  rounds_in_interval_ = 0;
  busy_ = {};
  moving_ = false;
}

void PartitionedLoop::merge_copies() {
  merging_ = false;
  if (!mergers_) return;
  mergers_->weights.merge();
  mergers_->calibrators.merge();
  mergers_->rows_at_last_merge = owner_.rows_below_copies();
}

void PartitionedLoop::drain() {
  agree_on_error(comm_, failure_, "end of pass");
  tree_replicator_.drain(coordinator_.take_changes());
  owner_.refresh_copies();
}

}  // namespace cpt
