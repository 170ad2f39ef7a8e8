// The stages of a round: what each rank waits for, computes and sends in a step.
#include <algorithm>
#include <cstring>
#include <string>
#include <utility>

#include "core/checked.h"
#include "train/partitioned/partitioned_loop.h"
#include "train/partitioned/wire/merge_runs.h"

namespace cpt {

void PartitionedLoop::pass_root(Round& round) {
  round.examples.wait(comm_, "round: examples");
  const std::vector<RoundHeader> headers = read_headers(round);
  relay_warnings(round, headers);  // first: they may say why the pass is aborted
  apply_headers(round, headers);
  round.begin_hops(round.root_hops);
  timed(round, Stage::kRoot, [&] {
    gather_examples(round, headers);
    if (std::ranges::count(root_ranks_, comm_.rank()) > 0) open(round, headers);
  });
  start_hops(round, round.root_hops, root_ranks_);
  take_loads(round, Stage::kRoot);
}

// On the owner of a root or of a copy.
void PartitionedLoop::open(Round& round, const std::vector<RoundHeader>& headers) {
  std::vector<std::uint64_t> counts;
  for (const RoundHeader& header : headers) counts.push_back(header.examples);
  Coordinator::Opened opened = coordinator_.open(round.routed_examples, counts, learning_, round.results.numbered);
  round.labels = opened.labels;
  round.reports = std::move(opened.reports);
  run_tasks(opened.tasks, round);
}

void PartitionedLoop::pass_level1(Round& round) {
  round.root_hops.wait(comm_, "round: tasks from the root");
  ConstBytes changes;
  for (RankMessages::Message& message : round.root_hops.received(comm_.rank())) {
    const auto header = take_header<HopHeader>(message.bytes);
    tainted_ |= header.is_void != 0;
    take_bytes(message.bytes, header.task_bytes);
    if (message.from != 0) continue;
    std::vector<ReportPoint> reports;
    for (std::uint64_t i = 0; i < header.reports; ++i) reports.push_back(take_header<ReportPoint>(message.bytes));
    round.reports = std::move(reports);
    changes = message.bytes;
  }
  round.begin_hops(round.level1_hops);
  timed(round, Stage::kLevel1, [&] {
    if (tree_replicator_.apply_changes(changes)) owner_.refresh_copies();
    run_stage(round, round.root_hops, Stage::kLevel1);
  });
  start_hops(round, round.level1_hops, all_ranks_);
  take_loads(round, Stage::kLevel1);
}

void PartitionedLoop::pass_deep(Round& round) {
  round.level1_hops.wait(comm_, "round: tasks from level 1");
  for (RankMessages::Message& message : round.level1_hops.received(comm_.rank())) {
    tainted_ |= take_header<HopHeader>(message.bytes).is_void != 0;
  }
  timed(round, Stage::kDeep, [&] { run_stage(round, round.level1_hops, Stage::kDeep); });
  std::vector<Buffer>& messages = round.result_messages.outgoing();
  for (std::size_t rank = 0; rank < messages.size(); ++rank) {
    const std::vector<PartialResult>& partials = round.results.partials[rank];
    const std::vector<Numbered>& numbered = round.results.numbered[rank];
    const std::span<const Split> splits = rank == 0 ? std::span<const Split>(round.results.splits) : std::span<Split>{};
    const ResultHeader header{round.is_void ? 1U : 0U, partials.size(), numbered.size(), splits.size()};
    messages[rank].append(&header, sizeof header);
    messages[rank].append(partials.data(), partials.size() * sizeof(PartialResult));
    messages[rank].append(numbered.data(), numbered.size() * sizeof(Numbered));
    messages[rank].append(splits.data(), splits.size_bytes());
  }
  round.result_messages.start(comm_, all_ranks_, all_ranks_);
  take_loads(round, Stage::kDeep);
}

void PartitionedLoop::close(Round& round) {
  round.result_messages.wait(comm_, "round: results");
  for (RankMessages::Message& message : round.result_messages.received(comm_.rank())) {
    tainted_ |= take_header<ResultHeader>(message.bytes).is_void != 0;
  }
  timed(round, Stage::kDeep, [&] { read_results(round); });
  std::span<const Split> splits = round.splits;
  const std::uint64_t examples = progress_.examples() + round.examples_of_all;
  for (const ReportPoint& point : round.reports) count_until(round, splits, point);
  count_until(round, splits, {.order = ~std::uint64_t{0}, .number = examples, .labels = round.labels});
  guarded(round, [&] {
    if (!splits.empty()) throw_protocol_error("a split of no new label");
  });
}

// Up to an example: rank 0 inserts the new labels, each rank counts its losses. All ranks then report, if a report is
// due: none may leave before.
void PartitionedLoop::count_until(Round& round, std::span<const Split>& splits, const ReportPoint& point) {
  timed(round, Stage::kDeep, [&] {
    if (comm_.rank() == 0) coordinator_.insert(splits, point.labels);
    round.ledger.count_until(point.order, learner_.options(), progress_.losses());
  });
  if (point.number > progress_.examples()) progress_.advance(point.number - progress_.examples());
}

void PartitionedLoop::gather_examples(Round& round, const std::vector<RoundHeader>& headers) {
  std::vector<ExamplesMessage> messages;
  for (RankMessages::Message& message : round.examples.received(comm_.rank())) {
    take_header<RoundHeader>(message.bytes);
    const RoundHeader& header = headers[static_cast<std::size_t>(message.from)];
    const std::uint64_t warning_bytes = comm_.rank() == 0 ? header.warning_bytes : 0;  // as relay_warnings() checked
    messages.push_back({.bytes = message.bytes.first(message.bytes.size() - warning_bytes),
                        .examples = header.examples,
                        .reader = static_cast<ReaderRank>(message.from),
                        .ring = ring_->of(message.from)});
  }
  std::vector<std::size_t> ends;
  read_examples(messages, round.routed_examples, ends);
  merge_runs(round.routed_examples, std::move(ends), example_scratch_);
}

// The tasks from other stages and those whose path the reading rank knew, in order.
void PartitionedLoop::run_stage(Round& round, const RankMessages& hops, Stage stage) {
  std::vector<ConstBytes> messages;
  for (RankMessages::Message& message : hops.received(comm_.rank())) {
    const auto header = take_header<HopHeader>(message.bytes);
    if (header.task_bytes > 0) messages.push_back(take_bytes(message.bytes, header.task_bytes));
  }
  tasks_.clear();
  std::vector<std::size_t> ends;
  read_tasks(messages, tasks_, ends);
  for (const PartitionTask& task : tasks_) {
    if (!owner_.owns(task.partition)) {
      throw_protocol_error("a task for partition " + std::to_string(task.partition) + ", which another rank owns");
    }
    if (task.reader >= all_ranks_.size()) throw_protocol_error("an example of rank " + std::to_string(task.reader));
  }
  add_direct_tasks(round.routed_examples, stage, owner_, tasks_);
  ends.push_back(tasks_.size());
  merge_runs(tasks_, std::move(ends), task_scratch_);
  run_tasks(tasks_, round);
}

// Messages progress meanwhile. A failure of the communicator is not kept as one of the work: ranks that have lost
// messages cannot agree on anything.
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

// Completes and sends the messages that begin_hops() began.
void PartitionedLoop::start_hops(Round& round, RankMessages& messages, const std::vector<int>& from) {
  const bool sends = std::ranges::count(from, comm_.rank()) > 0;
  const bool announces = comm_.rank() == 0 && &messages == &round.root_hops;
  std::span<const ReportPoint> reports;
  if (announces && !round.is_void) reports = round.reports;
  for (Buffer& message : messages.outgoing()) {
    const HopHeader header{round.is_void ? 1U : 0U, message.size() - sizeof(HopHeader), reports.size()};
    std::memcpy(message.data(), &header, sizeof header);
    message.append(reports.data(), reports.size_bytes());
  }
  if (announces) {
    tree_replicator_.append_changes(coordinator_.take_changes(), messages.outgoing());
  }
  messages.start(comm_, sends ? all_ranks_ : std::vector<int>{}, from);
}

void PartitionedLoop::read_results(Round& round) const {
  for (const RankMessages::Message& message : round.result_messages.received(comm_.rank())) {
    round.ledger.enter_all(message.bytes, round.splits);
  }
  sort_splits(round.splits);
}

// Each stage counts up to the same round, although the stages are in different rounds.
void PartitionedLoop::take_loads(Round& round, Stage stage) {
  if (round.loads.interval == 0) return;
  owner_.take_loads(stage, round.loads.of);
  round.loads.busy += busy_[static_cast<std::size_t>(stage)].take();
  if (stage == Stage::kDeep) interval_ = round.loads;
}

}  // namespace cpt
