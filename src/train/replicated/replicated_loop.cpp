#include "train/replicated/replicated_loop.h"

#include <algorithm>
#include <string_view>
#include <unordered_set>
#include <utility>

#include "api/options/option_values.h"
#include "comm/agreement.h"
#include "comm/collectives.h"
#include "model/tree/bounds.h"

namespace cpt {

namespace {

// In place of the length of the changes: rank 0 failed to make them.
constexpr std::uint64_t kNoChanges = ~std::uint64_t{0};

template <class Header>
std::uint64_t sum(const std::vector<Header>& headers, std::uint64_t Header::*member) {
  std::uint64_t total = 0;
  for (const Header& header : headers) total += header.*member;
  return total;
}

}  // namespace

ReplicatedLoop::ReplicatedLoop(const TrainingOptions& options, Communicator& comm, Learner& learner, InOrder& in_order,
                               Progress& progress, SyncSchedule& sync_points, Renewals& renewals, SafePoint& safe_point)
    : options_(options),
      comm_(comm),
      learner_(learner),
      in_order_(in_order),
      progress_(progress),
      merger_(comm, learner, options.merge, {learner.weights().whole()}),
      count_merger_(comm, learner),
      calibrator_merger_(comm, learner),
      sync_schedule_(sync_points),
      renewals_(renewals),
      safe_point_(safe_point) {
  in_order_.before_training([this](const PathState& path_state) {
    merger_.touch(path_state);
    count_merger_.note(path_state);
    calibrator_merger_.touch(path_state);
  });
}

std::uint64_t ReplicatedLoop::run(BatchReader& reader, bool learning, std::uint64_t examples_before) {
  examples_before_ = examples_before;
  std::uint64_t bad_lines[] = {reader.bad_lines()};  // more than 0 if resumed
  sum_in_rank_order(comm_, bad_lines, "pass: bad lines");
  bad_lines_ = bad_lines[0];
  if (learning && ends_before_validation(0)) {  // resumed there
    renewals_.stop_for_validation();
    return bad_lines_;
  }
  Round current;
  std::uint64_t examples = 0;  // of the current round, on all ranks
  for (;;) {
    if (drains_after(examples, learning)) {
      train(current, 0, current.slice.size(), learning);
      const bool validates = learning && ends_before_validation(examples);
      end_round(examples, learning, validates || (requests_ & RequestBits::kNow) != 0, reader);
      if (requests_ != 0) pause(reader);
      if (validates) {
        renewals_.stop_for_validation();
        return bad_lines_;
      }
      current = {};
      examples = 0;
    }
    Round next = read(reader, learning);
    const RoundHeaders headers = exchange_headers(next, reader.bad_lines(), current, learning);
    apply_headers(headers, next);
    add_labels(headers, next, current, learning);
#ifndef NDEBUG
    compare_trees();
#endif
    if (examples > 0) end_round(examples, learning, false, reader);
    // Only now: whether the current round ends the interval was decided before it was trained.
    sync_schedule_.set_rows({sum(headers, &RoundHeader::rows_to_merge), sum(headers, &RoundHeader::rows_trained)});
    examples = sum(headers, &RoundHeader::examples);
    if (examples == 0) {
      agree_on_error(comm_, failure_.get(), "end of pass");
      if (sync_schedule_.finish()) end_interval();
      return bad_lines_;
    }
    current = std::move(next);
  }
}

// All ranks decide alike, because all have the same headers.
void ReplicatedLoop::apply_headers(const RoundHeaders& headers, const Round& next) {
  relay_warnings(headers, next);
  bad_lines_ = sum(headers, &RoundHeader::bad_lines);
  if (const auto excess = excess_of_bad_lines(bad_lines_, options_.most_bad_lines)) {
    throw AgreedError(excess->fault(), excess->what());
  }
  for (const RoundHeader& header : headers) {
    requests_ |= header.requests & ~RequestBits::kStretch;
    stretch_ends_ |= (header.requests & RequestBits::kStretch) != 0;
  }
}

// Whether nothing may be read ahead of the current round.
bool ReplicatedLoop::drains_after(std::uint64_t examples, bool learning) const {
  if (examples == 0) return false;
  if (learning && (sync_schedule_.would_end(examples) || ends_before_validation(examples))) return true;
  return (requests_ & (learning ? RequestBits::kNow : ~0ULL)) != 0;
}

// Whether a validation follows the current round of `examples` examples.
bool ReplicatedLoop::ends_before_validation(std::uint64_t examples) const {
  return renewals_.is_validation(progress_.examples() - examples_before_ + examples);
}

void ReplicatedLoop::end_round(std::uint64_t examples, bool learning, bool ends_interval, const BatchReader& reader) {
  progress_.count_rounds(1);
  if (learning && (sync_schedule_.advance(examples) || (ends_interval && sync_schedule_.finish()))) {
    agree_on_error(comm_, failure_.get(), "merge: start");  // a merge of unfinished weights would hide the cause
    end_interval();
  }
  progress_.advance(examples);
  progress_.show(reader.part_read());
  if (std::exchange(stretch_ends_, false)) progress_.report_stretch(reader.part_read());
  failure_.keep(progress_.failure());
}

void ReplicatedLoop::pause(const BatchReader& reader) {
  agree_on_error(comm_, failure_.get(), "pause");
  renewals_.share();
  safe_point_.pause(std::exchange(requests_, 0), reader.cursors());
}

ReplicatedLoop::Round ReplicatedLoop::read(BatchReader& reader, bool learning) {
  Round round;
  if (failure_) return round;
  failure_.run([&] {
    round.slice = reader.next_lines(round_examples());
    if (learning) propose(round);
  });
  round.warnings = join_warnings(comm_, reader.take_warnings());
  return round;
}

// The number of examples that this rank takes.
std::uint64_t ReplicatedLoop::round_examples() const {
  if (options_.round_examples == 0) return round_length(learner_.tree().labels(), comm_.size());
  return std::max<std::uint64_t>(options_.round_examples / static_cast<std::uint64_t>(comm_.size()), 1);
}

void ReplicatedLoop::propose(Round& round) const {
  std::vector<Proposal> proposals;
  std::unordered_set<std::string_view> proposed;
  round.is_new.resize(round.slice.size());
  for (std::size_t i = 0; i < round.slice.size(); ++i) {
    const ExampleView x = (*round.slice.batch)[round.slice.begin + i];
    if (learner_.find(x) != kNoLabel || !proposed.insert(x.label).second) continue;
    round.is_new[i] = true;
    proposals.push_back(Proposal::of(x));
  }
  if (!proposals.empty()) round.proposals = pack(proposals);
}

// The headers of the next round travel while the first half of the current one is trained.
ReplicatedLoop::RoundHeaders ReplicatedLoop::exchange_headers(const Round& next, std::uint64_t bad_lines,
                                                              Round& current, bool learning) {
  const RoundHeader mine{.examples = next.slice.size(),
                         .fault = encode_fault(failure_.get()),
                         .proposal_bytes = next.proposals.size(),
                         .warning_bytes = next.warnings.size(),
                         .bad_lines = bad_lines,
                         .requests = safe_point_.requests() | (progress_.stretch_due() ? RequestBits::kStretch : 0),
                         .rows_to_merge = merger_.touched().size() + calibrator_merger_.touched_rows(),
                         .rows_trained = merger_.touched().updates()};
  RoundHeaders headers(static_cast<std::size_t>(comm_.size()));
  const auto gathering = comm_.start_all_gather(bytes_of(mine), std::as_writable_bytes(std::span(headers)));
  train(current, 0, current.slice.size() / 2, learning);
  comm_.wait(*gathering, "round: headers");
  if (sum(headers, &RoundHeader::fault) != 0) throw_agreed(comm_, mine.fault != 0 ? failure_.get() : nullptr);
  return headers;
}

// Steps 3 and 4 of the next round: the changes travel while the second half of the current round is trained.
void ReplicatedLoop::add_labels(const RoundHeaders& headers, const Round& next, Round& current, bool learning) {
  const std::size_t half = current.slice.size() / 2;
  if (sum(headers, &RoundHeader::proposal_bytes) == 0) {
    train(current, half, current.slice.size(), learning);
    return;
  }
  const auto proposals = gather_at_rank_0(headers, &RoundHeader::proposal_bytes, next.proposals, "round: proposals");
  std::vector<std::byte> changes;
  DeferredError choosing;  // the others wait for the broadcast
  if (comm_.rank() == 0) choosing.run([&] { changes = choose_splits(proposals); });
  std::uint64_t length = choosing ? kNoChanges : changes.size();
  const auto announcing = comm_.start_broadcast(writable_bytes_of(length), 0);
  train(current, half, current.slice.size(), learning);
  comm_.wait(*announcing, "round: changes");
  if (length == kNoChanges) throw_agreed(comm_, choosing.get());
  changes.resize(length);
  comm_.wait(*comm_.start_broadcast(changes, 0), "round: changes");
  if (comm_.rank() == 0) return;
  failure_.run([&] {
    for (const TreeChange& change : unpack_changes(changes)) learner_.apply(change);
  });
}

// On rank 0: each label is inserted into the tree that the labels before it have left.
std::vector<std::byte> ReplicatedLoop::choose_splits(const std::vector<std::vector<std::byte>>& proposals_of_ranks) {
  std::vector<TreeChange> changes;
  for (const std::vector<std::byte>& bytes : proposals_of_ranks) {
    if (bytes.empty()) continue;
    for (const Proposal& proposal : unpack_proposals(bytes)) {
      const ExampleView x = proposal.view();
      if (learner_.find(x) != kNoLabel) continue;
      changes.push_back(learner_.choose_split(x));
      learner_.apply(changes.back());
    }
  }
  return pack(changes);
}

void ReplicatedLoop::train(const Round& round, std::size_t begin, std::size_t end, bool learning) {
  if (failure_ || begin == end) return;
  Slice slice = round.slice;
  slice.end = slice.begin + end;
  slice.begin += begin;
  failure_.run([&] {
    if (learning) {
      in_order_.learn_known(slice, {round.is_new.begin() + static_cast<std::ptrdiff_t>(begin), round.is_new.end()},
                            progress_.losses());
    } else {
      in_order_.predict_only(slice, progress_.losses());
    }
  });
}

void ReplicatedLoop::relay_warnings(const RoundHeaders& headers, const Round& next) {
  if (sum(headers, &RoundHeader::warning_bytes) == 0) return;
  const ConstBytes mine = std::as_bytes(std::span(next.warnings));
  for (const auto& bytes : gather_at_rank_0(headers, &RoundHeader::warning_bytes, mine, "round: warnings")) {
    for (const std::string& warning : split_warnings(bytes)) progress_.warn(warning);
  }
}

// The buffers of all ranks at rank 0; empty ones elsewhere. Headers say how long each is.
std::vector<std::vector<std::byte>> ReplicatedLoop::gather_at_rank_0(const RoundHeaders& headers,
                                                                     std::uint64_t RoundHeader::*length,
                                                                     ConstBytes mine, const char* call) {
  const auto ranks = static_cast<std::size_t>(comm_.size());
  std::vector<ConstBytes> outgoing(ranks);
  outgoing[0] = mine;
  std::vector<std::vector<std::byte>> received(ranks);
  std::vector<Bytes> incoming(ranks);
  if (comm_.rank() == 0) {
    for (std::size_t r = 0; r < ranks; ++r) {
      received[r].resize(headers[r].*length);
      incoming[r] = received[r];
    }
  }
  comm_.wait(*comm_.start_exchange(outgoing, incoming), call);
  return received;
}

void ReplicatedLoop::compare_trees() {
  agree_on_error(comm_, failure_.get(), "round: digest");
  require_equal(comm_, {{"another tree", learner_.structure_digest()}}, "round: digest");
}

void ReplicatedLoop::end_interval() {
  merger_.merge();
  count_merger_.merge();
  calibrator_merger_.merge();
  renewals_.renew_if_due();
  progress_.count_sync();
#ifndef NDEBUG
  for (std::size_t t = 0; t < learner_.trees().size(); ++t) {
    const std::string violation = find_invariant_violation(learner_.tree(t), options_.model.of_tree(t));
    if (!violation.empty()) throw Error(Fault::kFailed, "the tree violates an invariant: " + violation);
  }
#endif
}

}  // namespace cpt
