// How ranks learn of one another's failures, and of everything else that the headers of a round say.
#include <algorithm>
#include <optional>
#include <string>
#include <utility>

#include "api/options/option_values.h"
#include "train/partitioned/partitioned_loop.h"

namespace cpt {

// Runs work whose failure all ranks learn of later. Until then this rank marks what it sends as void.
void PartitionedLoop::guarded(Round& round, const std::function<void()>& work) {
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

// Guarded work of a stage. Only learning counts as load.
void PartitionedLoop::timed(Round& round, Stage stage, const std::function<void()>& work) {
  guarded(round, [&] {
    if (!learning_) return work();
    busy_[static_cast<std::size_t>(stage)].add(work);
  });
}

std::vector<RoundHeader> PartitionedLoop::read_headers(const Round& round) const {
  std::vector<RoundHeader> headers;
  for (RankMessages::Message& message : round.examples.received(comm_.rank())) {
    headers.push_back(take_header<RoundHeader>(message.bytes));
  }
  return headers;
}

void PartitionedLoop::relay_warnings(const Round& round, const std::vector<RoundHeader>& headers) {
  if (comm_.rank() != 0) return;
  for (RankMessages::Message& message : round.examples.received(0)) {
    const std::uint64_t length = headers[static_cast<std::size_t>(message.from)].warning_bytes;
    take_header<RoundHeader>(message.bytes);
    if (length > message.bytes.size()) throw_protocol_error("warnings are cut short");
    for (const std::string& warning : split_warnings(message.bytes.last(length))) progress_.warn(warning);
  }
}

// Every decision here is the same on all ranks, because all have the same headers.
void PartitionedLoop::apply_headers(Round& round, const std::vector<RoundHeader>& headers) {
  RoundHeader all;
  RoundContents contents;
  IntervalRows rows;
  all.ended = 1;
  for (const RoundHeader& one : headers) {
    contents += {one.examples, one.features, one.examples > 0 ? 1U : 0U};
    all.fault |= one.fault;
    all.bad_lines += one.bad_lines;
    all.active_shards += one.active_shards;
    all.ended &= one.ended;
    all.requests |= one.requests;
    rows.to_merge += one.rows_to_merge;
    rows.trained += one.rows_trained;
    all.part_read = std::min(all.part_read, one.part_read);
  }
  if (all.fault != 0) abort_pass(nullptr);
  bad_lines_ = all.bad_lines;
  if (const auto excess = excess_of_bad_lines(bad_lines_, options_.most_bad_lines)) {
    const AgreedError reason(excess->fault(), excess->what());
    abort_pass(&reason);
  }
  if (all.active_shards != 0) active_shards_ = all.active_shards;
  all_read_ = all.ended != 0;
  part_read_ = all.part_read;
  requests_ |= all.requests & ~RequestBits::kStretch;
  stretch_ends_ |= (all.requests & RequestBits::kStretch) != 0;
  round.examples_of_all = contents.examples;
  if (contents.examples == 0) return;
  latest_contents_ = contents;
  progress_.count_rounds(1);
  if (!learning_) return;
  if (!merging_) sync_schedule_.set_rows(rows);  // else they are of an interval that has ended
  count_interval(round, contents.examples);
}

void PartitionedLoop::count_interval(Round& round, std::uint64_t examples) {
  ++rounds_in_interval_;
  if (!sync_schedule_.advance(examples)) return;
  progress_.count_sync();
  merging_ = true;
  round.loads = {.interval = progress_.sync_points(),
                 .rounds = std::exchange(rounds_in_interval_, 0),
                 .of = Loads(balancer_.owners().size())};
}

// All ranks call it in the same step and have started the same operations, which must end in order.
void PartitionedLoop::abort_pass(const AgreedError* reason) {
  for (const auto& round : rounds_) {
    for (RankMessages* messages : round->all_messages()) {
      if (messages->under_way()) messages->wait(comm_, "round: abort");
    }
  }
  balancer_.abort_pass();
  if (reason != nullptr) throw *reason;
  throw_agreed(comm_, failure_);
}

}  // namespace cpt
