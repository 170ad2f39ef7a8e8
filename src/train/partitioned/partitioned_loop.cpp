#include "train/partitioned/partitioned_loop.h"

#include <algorithm>
#include <cstring>
#include <numeric>
#include <optional>
#include <string>
#include <utility>

#include "api/bad_lines.h"
#include "comm/collectives.h"
#include "core/checked.h"
#include "core/merge_runs.h"
#include "cpt/error.h"
#include "train/host/host.h"

namespace cpt {

namespace {

static_assert(SharedExampleRing::kRounds >= 6, "others may still read what lies on a shelf: see the header");
static_assert(SharedMessageRing::kSteps >= 4, "others may still read what lies on a shelf: see the header");

constexpr std::uint64_t kMostPositions = std::uint64_t{1} << 18;

std::vector<int> all_ranks(int ranks) {
  std::vector<int> all(static_cast<std::size_t>(ranks));
  std::iota(all.begin(), all.end(), 0);
  return all;
}

// The position of the first example of all. What a reader throws it will throw again when it is read.
std::uint64_t first_position(Communicator& comm, BatchReader& reader) {
  std::uint64_t mine = BatchReader::kNoPosition;
  try {
    mine = reader.next_position();
  } catch (const std::exception&) {
  }
  std::uint64_t first = BatchReader::kNoPosition;
  for (std::uint64_t one : all_gather_value(comm, mine, "pass: first position")) first = std::min(first, one);
  return first == BatchReader::kNoPosition ? 0 : first;
}

}  // namespace

PartitionedLoop::PartitionedLoop(const TrainingOptions& options, Communicator& comm, Learner& learner,
                                 Progress& progress, SyncSchedule& sync_points, SafePoint& safe_point)
    : options_(options),
      comm_(comm),
      learner_(learner),
      progress_(progress),
      all_ranks_(all_ranks(comm.size())),
      balancer_(comm),
      owner_(learner, balancer_.owners(), comm.rank()),
      dispatcher_(learner, comm.size()),
      coordinator_(learner, progress),
      sync_schedule_(sync_points),
      safe_point_(safe_point),
      tree_replicator_(comm, learner, owner_) {}

std::uint64_t PartitionedLoop::run(BatchReader& reader, std::uint64_t shards, bool learning) {
  if (moving_) change_owners();  // as was decided when all was read; after the last pass nothing would come of it
  learning_ = learning;
  all_read_ = false;
  position_ = first_position(comm_, reader);
  active_shards_ = shards;
  bad_lines_ = 0;
  coordinator_.begin_pass();
  if (!shelf_) {
    shelf_.emplace(comm_);
    message_shelf_.emplace(comm_);
    ranks_per_core_ = ranks_per_core(comm_);
  }
  while (!all_read_ || !rounds_.empty()) {
    const bool comes_to_rest = moving_ || requests_ != 0;
    step(all_read_ || comes_to_rest ? nullptr : &reader);
    progress_.show(reader.part_read());
    if (comes_to_rest && rounds_.empty()) rest(reader);
  }
  drain();
  if (sync_schedule_.finish()) progress_.count_sync();
  return bad_lines_;
}

// The youngest rounds first: what they need was sent a step ago, and others wait for what they send.
void PartitionedLoop::step(BatchReader* reader) {
  tree_replicator_.begin_step();
  message_shelf_->begin_step();
  const std::size_t under_way = rounds_.size();
  if (reader != nullptr) read(*reader);
  for (std::size_t i = under_way; i-- > 0;) {
    Round& round = *rounds_[i];
    switch (round.next) {
      case Round::Step::kRoot:
        pass_root(round);
        round.next = Round::Step::kLevel1;
        break;
      case Round::Step::kLevel1:
        pass_level1(round);
        round.next = Round::Step::kDeep;
        break;
      case Round::Step::kDeep:
        pass_deep(round);
        round.next = Round::Step::kClose;
        break;
      case Round::Step::kClose:
        close(round);
        round.next = Round::Step::kDone;
        break;
      case Round::Step::kDone:
        break;
    }
  }
  if (rounds_.front()->next == Round::Step::kDone) {
    spare_.push_back(std::move(rounds_.front()));
    rounds_.pop_front();
  }
  balance();
}

// Work whose failure all ranks hear of later; meanwhile this rank sends nothing that others could take for whole.
template <class Work>
void PartitionedLoop::guarded(Round& round, Work work) {
  if (!failure_ && progress_.failure()) failure_ = progress_.failure();
  if (failure_) tainted_ = true;
  round.is_void |= tainted_;
  if (round.is_void) return;
  try {
    work();
  } catch (...) {
    failure_ = std::current_exception();
    round.is_void = tainted_ = true;
  }
  if (transport_) std::rethrow_exception(transport_);
}

// Guarded work of a stage. What learns nothing is no load.
template <class Work>
void PartitionedLoop::timed(Round& round, Stage stage, Work work) {
  guarded(round, [&] {
    if (!learning_) return work();
    busy_[static_cast<std::size_t>(stage)].add(work);
  });
}

// Messages move on meanwhile. If they cannot, that is no failure of the work: ranks that have lost messages cannot
// agree on anything any more.
void PartitionedLoop::run_tasks(const std::vector<PartitionTask>& tasks, Round& round) {
  owner_.run(tasks, learning_, round.results, [this] {
    if (transport_) return;
    try {
      comm_.advance();
    } catch (...) {
      transport_ = std::current_exception();
    }
  });
}

void PartitionedLoop::read(BatchReader& reader) {
  if (spare_.empty()) spare_.push_back(std::make_unique<Round>(comm_.size()));
  rounds_.push_back(std::move(spare_.back()));
  spare_.pop_back();
  Round& round = *rounds_.back();
  round.clear();
  std::vector<Buffer>& messages = round.examples.outgoing();
  for (Buffer& message : messages) message.extend(sizeof(RoundHeader));

  RoundHeader news;
  const std::uint64_t end = position_ + round_positions();
  guarded(round, [&] { dispatcher_.read(reader, position_, end, {balancer_.owners(), *shelf_, messages}, news); });
  position_ = end;
  const std::string warnings = join_warnings(comm_, reader.take_warnings());
  news.warning_bytes = warnings.size();
  messages[0].append(warnings.data(), warnings.size());
  news.bad_lines = reader.error_lines();
  news.requests = safe_point_.requests();
  news.fault = encode_fault(failure_);
  for (Buffer& message : messages) std::memcpy(message.data(), &news, sizeof news);
  round.examples.start(comm_, *message_shelf_, all_ranks_, all_ranks_);
}

std::uint64_t PartitionedLoop::round_positions() const {
  const std::uint64_t wished = options_.round_examples != 0 ? options_.round_examples
                                                            : partitioned_round_length(tree_replicator_.labels_heard(),
                                                                                       comm_.size(), ranks_per_core_);
  const std::uint64_t examples = std::min(wished, most_round_examples(latest_contents_));
  return std::clamp<std::uint64_t>(examples / std::max<std::uint64_t>(active_shards_, 1), 1, kMostPositions);
}

void PartitionedLoop::pass_root(Round& round) {
  round.examples.wait(comm_, "round: examples");
  const std::vector<RoundHeader> news = read_headers(round);
  relay_warnings(round, news);  // first, for they may tell why all give up
  apply_headers(round, news);
  round.begin_hops(round.root_hops);
  timed(round, Stage::kRoot, [&] {
    gather_examples(round, news);
    if (comm_.rank() != 0) return;
    const std::vector<PartitionTask> tasks = coordinator_.open(round.routed_examples, learning_, round.ledger);
    run_tasks(tasks, round);
  });
  start_hops(round, round.root_hops, {0});
  take_loads(round, Stage::kRoot);
}

void PartitionedLoop::pass_level1(Round& round) {
  round.root_hops.wait(comm_, "round: tasks from the root");
  const ConstBytes message = round.root_hops.received(comm_.rank(), *message_shelf_).front().bytes;
  const auto news = read_front<HopHeader>(message);
  tainted_ |= news.is_void != 0;
  round.begin_hops(round.level1_hops);
  timed(round, Stage::kLevel1, [&] {
    tree_replicator_.hear(message.subspan(sizeof news + news.visit_bytes));
    run_stage(round, round.root_hops, Stage::kLevel1);
  });
  start_hops(round, round.level1_hops, all_ranks_);
  take_loads(round, Stage::kLevel1);
}

void PartitionedLoop::pass_deep(Round& round) {
  round.level1_hops.wait(comm_, "round: tasks from level 1");
  for (const RankMessages::Message& message : round.level1_hops.received(comm_.rank(), *message_shelf_)) {
    tainted_ |= read_front<HopHeader>(message.bytes).is_void != 0;
  }
  timed(round, Stage::kDeep, [&] { run_stage(round, round.level1_hops, Stage::kDeep); });
  const StageResults& results = round.results;
  const ResultHeader news{round.is_void ? 1U : 0U, results.partials.size(), results.changes.size()};
  Buffer& message = round.partials.outgoing()[0];
  message.append(&news, sizeof news);
  message.append(results.partials.data(), results.partials.size() * sizeof(PartialResult));
  message.append(results.changes.data(), results.changes.size() * sizeof(Split));
  round.partials.start(comm_, *message_shelf_, {0}, comm_.rank() == 0 ? all_ranks_ : std::vector<int>{});
  take_loads(round, Stage::kDeep);
}

void PartitionedLoop::close(Round& round) {
  round.partials.wait(comm_, "round: partials");
  if (comm_.rank() != 0) return;
  for (const RankMessages::Message& message : round.partials.received(0, *message_shelf_)) {
    tainted_ |= read_front<ResultHeader>(message.bytes).is_void != 0;
  }
  timed(round, Stage::kDeep, [&] {
    read_partials(round);
    coordinator_.close(round.ledger);
  });
}

std::vector<RoundHeader> PartitionedLoop::read_headers(const Round& round) const {
  std::vector<RoundHeader> news;
  for (const RankMessages::Message& message : round.examples.received(comm_.rank(), *message_shelf_)) {
    news.push_back(read_front<RoundHeader>(message.bytes));
  }
  return news;
}

// What all ranks decide alike, because all hear the same.
void PartitionedLoop::apply_headers(Round& round, const std::vector<RoundHeader>& news) {
  RoundHeader all;
  RoundContents contents;
  all.ended = 1;
  for (const RoundHeader& one : news) {
    contents += {one.examples, one.features, one.examples > 0 ? 1U : 0U};
    all.fault |= one.fault;
    all.bad_lines += one.bad_lines;
    all.active_shards += one.active_shards;
    all.ended &= one.ended;
    all.requests |= one.requests;
  }
  if (all.fault != 0) abort_pass(nullptr);
  bad_lines_ = all.bad_lines;
  if (const auto excess = excess_of_bad_lines(bad_lines_, options_.most_bad_lines)) {
    const AgreedError reason(excess->fault(), excess->what());
    abort_pass(&reason);
  }
  if (all.active_shards != 0) active_shards_ = all.active_shards;
  all_read_ = all.ended != 0;
  requests_ |= all.requests;
  if (contents.examples == 0) return;
  latest_contents_ = contents;
  progress_.count_rounds(1);
  if (!learning_) return;
  ++rounds_in_interval_;
  if (!sync_schedule_.advance(contents.examples)) return;
  progress_.count_sync();
  round.loads = {.interval = progress_.sync_points(), .rounds = std::exchange(rounds_in_interval_, 0)};
}

void PartitionedLoop::relay_warnings(const Round& round, const std::vector<RoundHeader>& news) {
  if (comm_.rank() != 0) return;
  for (const RankMessages::Message& message : round.examples.received(0, *message_shelf_)) {
    const std::size_t length = news[static_cast<std::size_t>(message.from)].warning_bytes;
    for (const std::string& warning : split_warnings(message.bytes.last(length))) progress_.warn(warning);
  }
}

void PartitionedLoop::gather_examples(Round& round, const std::vector<RoundHeader>& news) {
  std::vector<ArrivalMessage> messages;
  std::uint64_t slot = 0;
  for (const RankMessages::Message& message : round.examples.received(comm_.rank(), *message_shelf_)) {
    const RoundHeader& from = news[static_cast<std::size_t>(message.from)];
    const std::size_t around = sizeof from + (comm_.rank() == 0 ? from.warning_bytes : 0);
    messages.push_back({.bytes = message.bytes.subspan(sizeof from, message.bytes.size() - around),
                        .first_slot = narrow<std::uint32_t>(slot, "the examples of a round"),
                        .shelf = shelf_->of(message.from)});
    slot += from.examples;
  }
  std::vector<std::size_t> ends;
  round.arrival_reader.read_examples(messages, round.routed_examples, ends);
  merge_runs(round.routed_examples, std::move(ends), arrival_scratch_);
}

// The tasks that came as hops and, where the way was known, directly.
void PartitionedLoop::run_stage(Round& round, const RankMessages& hops, Stage stage) {
  std::vector<ConstBytes> messages;
  for (const RankMessages::Message& message : hops.received(comm_.rank(), *message_shelf_)) {
    const auto news = read_front<HopHeader>(message.bytes);
    if (news.visit_bytes > 0) messages.push_back(message.bytes.subspan(sizeof news, news.visit_bytes));
  }
  std::vector<PartitionTask>& tasks = tasks_;
  tasks.clear();
  std::vector<std::size_t> ends;
  round.visit_reader.clear();
  round.visit_reader.read_tasks(messages, tasks, ends);
  add_direct_visits(round.routed_examples, stage, owner_, tasks);
  ends.push_back(tasks.size());
  merge_runs(tasks, std::move(ends), visit_scratch_);
  run_tasks(tasks, round);
}

// Completes what begin_hops() began.
void PartitionedLoop::start_hops(Round& round, RankMessages& mail, const std::vector<int>& from) {
  const bool sends = std::ranges::count(from, comm_.rank()) > 0;
  for (Buffer& message : mail.outgoing()) {
    const HopHeader news{round.is_void ? 1U : 0U, message.size() - sizeof(HopHeader)};
    std::memcpy(message.data(), &news, sizeof news);
  }
  if (sends && from.size() == 1) tree_replicator_.tell(coordinator_.take_changes(), mail.outgoing());
  mail.start(comm_, *message_shelf_, sends ? all_ranks_ : std::vector<int>{}, from);
}

void PartitionedLoop::read_partials(Round& round) const {
  for (const StageResults::RootPart& part : round.results.root) round.ledger.entries[part.slot].root = part.value;
  for (const RankMessages::Message& message : round.partials.received(0, *message_shelf_)) {
    const auto news = read_front<ResultHeader>(message.bytes);
    const ConstBytes partials = message.bytes.subspan(sizeof news, news.partials * sizeof(PartialResult));
    for (std::size_t at = 0; at < partials.size(); at += sizeof(PartialResult)) {
      round.ledger.enter(read_front<PartialResult>(partials.subspan(at)));
    }
    const ConstBytes changes = message.bytes.subspan(sizeof news + partials.size());
    for (std::size_t at = 0; at < changes.size(); at += sizeof(Split)) {
      round.ledger.changes.push_back(read_front<Split>(changes.subspan(at)));
    }
  }
}

// Each stage counts up to the same round, whatever the others are at.
void PartitionedLoop::take_loads(Round& round, Stage stage) {
  if (round.loads.interval == 0) return;
  owner_.take_loads(stage, round.loads.of);
  round.loads.busy += busy_[static_cast<std::size_t>(stage)].take();
  if (stage == Stage::kDeep) interval_ = round.loads;
}

// Decides by loads that were sent a step ago.
void PartitionedLoop::balance() {
  if (balancer_.is_to_decide()) {
    moving_ = balancer_.decide(learner_.weights());
    balance_ = balancer_.latest();
  }
  if (interval_ && !moving_) balancer_.end_interval(*interval_);
  interval_.reset();
}

void PartitionedLoop::rest(const BatchReader& reader) {
  drain();
  if (moving_ && !all_read_) change_owners();
  if (requests_ != 0) safe_point_.pause(std::exchange(requests_, 0), reader.cursors());
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

void PartitionedLoop::drain() {
  agree_on_error(comm_, failure_, "end of pass");
  tree_replicator_.drain(coordinator_.take_changes());
}

// All ranks have come here in the same step, so what one of them has started all have: let it end in order.
void PartitionedLoop::abort_pass(const AgreedError* reason) {
  for (const auto& round : rounds_) {
    for (RankMessages* mail : {&round->examples, &round->root_hops, &round->level1_hops, &round->partials}) {
      if (mail->under_way()) mail->wait(comm_, "round: giving up");
    }
  }
  balancer_.abort_pass();
  if (reason != nullptr) throw *reason;
  throw_agreed(comm_, failure_);
}

}  // namespace cpt
