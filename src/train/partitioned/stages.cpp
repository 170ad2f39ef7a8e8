// The stages of a round: what each rank waits for, computes and sends in a step.
#include <algorithm>
#include <cstring>
#include <string>
#include <utility>

#include "core/checked.h"
#include "core/merge_runs.h"
#include "train/partitioned/partitioned_loop.h"

namespace cpt {

void PartitionedLoop::pass_root(Round& round) {
  round.examples.wait(comm_, "round: examples");
  const std::vector<RoundHeader> headers = read_headers(round);
  relay_warnings(round, headers);  // first: they may say why the pass is aborted
  apply_headers(round, headers);
  round.begin_hops(round.root_hops);
  timed(round, Stage::kRoot, [&] {
    const std::size_t examples = gather_examples(round, headers);
    if (std::ranges::count(root_owners_, comm_.rank()) == 0) return;
    run_tasks(coordinator_.open(round.routed_examples, examples, learning_, round.ledger), round);
  });
  start_hops(round, round.root_hops, root_owners_);
  take_loads(round, Stage::kRoot);
}

void PartitionedLoop::pass_level1(Round& round) {
  round.root_hops.wait(comm_, "round: tasks from the root");
  ConstBytes changes;
  for (RankMessages::Message& message : round.root_hops.received(comm_.rank())) {
    const auto header = take_header<HopHeader>(message.bytes);
    tainted_ |= header.is_void != 0;
    take_bytes(message.bytes, header.task_bytes);
    if (message.from == 0) changes = message.bytes;
  }
  round.begin_hops(round.level1_hops);
  timed(round, Stage::kLevel1, [&] {
    tree_replicator_.apply_changes(changes);
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
  const StageResults& results = round.results;
  const ResultHeader header{round.is_void ? 1U : 0U, results.partials.size(), results.splits.size()};
  Buffer& message = round.partials.outgoing()[0];
  message.append(&header, sizeof header);
  message.append(results.partials.data(), results.partials.size() * sizeof(PartialResult));
  message.append(results.splits.data(), results.splits.size() * sizeof(Split));
  round.partials.start(comm_, {0}, comm_.rank() == 0 ? all_ranks_ : std::vector<int>{});
  take_loads(round, Stage::kDeep);
}

void PartitionedLoop::close(Round& round) {
  round.partials.wait(comm_, "round: partials");
  if (comm_.rank() != 0) return;
  for (RankMessages::Message& message : round.partials.received(0)) {
    tainted_ |= take_header<ResultHeader>(message.bytes).is_void != 0;
  }
  timed(round, Stage::kDeep, [&] {
    read_partials(round);
    coordinator_.close(round.ledger);
  });
}

// Returns the number of examples of the round.
std::size_t PartitionedLoop::gather_examples(Round& round, const std::vector<RoundHeader>& headers) {
  std::vector<ExamplesMessage> messages;
  std::uint64_t slot = 0;
  for (RankMessages::Message& message : round.examples.received(comm_.rank())) {
    const auto header = take_header<RoundHeader>(message.bytes);
    const std::uint64_t warning_bytes = comm_.rank() == 0 ? header.warning_bytes : 0;  // as relay_warnings() checked
    messages.push_back({.bytes = message.bytes.first(message.bytes.size() - warning_bytes),
                        .examples = header.examples,
                        .first_slot = narrow<std::uint32_t>(slot, "the examples of a round"),
                        .ring = ring_->of(message.from)});
    slot += headers[static_cast<std::size_t>(message.from)].examples;
  }
  std::vector<std::size_t> ends;
  read_examples(messages, round.routed_examples, ends);
  merge_runs(round.routed_examples, std::move(ends), example_scratch_);
  return slot;
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
    if (owner_.owns(task.partition)) continue;
    throw_protocol_error("a task for partition " + std::to_string(task.partition) + ", which another rank owns");
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
  for (Buffer& message : messages.outgoing()) {
    const HopHeader header{round.is_void ? 1U : 0U, message.size() - sizeof(HopHeader)};
    std::memcpy(message.data(), &header, sizeof header);
  }
  if (comm_.rank() == 0 && &messages == &round.root_hops) {
    tree_replicator_.append_changes(coordinator_.take_changes(), messages.outgoing());
  }
  messages.start(comm_, sends ? all_ranks_ : std::vector<int>{}, from);
}

void PartitionedLoop::read_partials(Round& round) const {
  for (const PartialResult& part : round.results.of_root) round.ledger.enter(part);
  for (const RankMessages::Message& message : round.partials.received(0)) round.ledger.enter_all(message.bytes);
}

// Each stage counts up to the same round, although the stages are in different rounds.
void PartitionedLoop::take_loads(Round& round, Stage stage) {
  if (round.loads.interval == 0) return;
  owner_.take_loads(stage, round.loads.of);
  round.loads.busy += busy_[static_cast<std::size_t>(stage)].take();
  if (stage == Stage::kDeep) interval_ = round.loads;
}

}  // namespace cpt
