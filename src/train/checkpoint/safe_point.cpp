#include "train/checkpoint/safe_point.h"

#include <utility>

#include "api/checkpoint/run_state.h"
#include "comm/agreement.h"
#include "comm/collectives.h"
#include "cpt/error.h"
#include "store/run/checkpoints.h"
#include "train/checkpoint/checkpoint_writer.h"

namespace cpt {

namespace {

// How far a shard was read, as a rank sends it to all others.
struct ShardCursor {
  std::uint64_t shard;
  Cursor cursor;
};

std::uint64_t bits_of(Request request) {
  switch (request) {
    case Request::kNone:
      break;
    case Request::kCheckpoint:
      return RequestBits::kCheckpoint | RequestBits::kNow;
    case Request::kStop:
      return RequestBits::kStop | RequestBits::kNow;
  }
  return 0;
}

}  // namespace

// One minute per GiB of the tables.
std::chrono::minutes timeout_for_disks(const ModelOptions& model) {
  const std::uint64_t bytes = (sizeof(Row) << model.table_bits()) * static_cast<std::uint64_t>(model.trees);
  return std::chrono::minutes(1 + (bytes >> 30));
}

SafePoint::SafePoint(const CheckpointOptions& options, Communicator& comm, const Learner& learner, TraversalPlan& plan,
                     Progress& progress, TakeSnapshot take_snapshot, std::vector<std::filesystem::path> unusable)
    : options_(options),
      comm_(comm),
      learner_(learner),
      plan_(plan),
      progress_(progress),
      take_snapshot_(std::move(take_snapshot)),
      unusable_(std::move(unusable)),
      last_examples_(progress.examples_of_phase()) {}

std::uint64_t SafePoint::requests() {
  if (options_.requested) requests_ |= bits_of(options_.requested());
  if (comm_.rank() == 0 && due()) requests_ |= RequestBits::kCheckpoint;
  return requests_;
}

bool SafePoint::due() const {
  if (!enabled()) return false;
  if (options_.every.count() > 0 && Clock::now() - last_time_ >= options_.every) return true;
  const std::uint64_t now = progress_.examples_of_phase();
  const std::uint64_t since = now >= last_examples_ ? now - last_examples_ : now;  // each phase counts from 0
  return options_.every_examples > 0 && since >= options_.every_examples;
}

void SafePoint::pause(std::uint64_t requests, const std::vector<Cursor>& cursors) {
  requests_ &= ~requests;  // one that came since is for the next pause
  if ((requests_ & RequestBits::kStop) != 0) requests_ |= RequestBits::kNow;  // cleared above with those of others
  if (!validates_) gather_cursors(cursors);
  const bool saved = save();
  const bool stops = (requests & RequestBits::kStop) != 0;
  if (!saved && !stops) progress_.warn("a checkpoint was asked for, but this run writes none");
  if (stops) stop(saved);
}

void SafePoint::begin_validation(const std::vector<Cursor>& cursors) {
  gather_cursors(cursors);
  validates_ = true;
}

void SafePoint::stop(bool saved) const {
  if (saved) throw AgreedError(Fault::kStopped, "stopped on request, with a checkpoint; start again with --resume");
  throw AgreedError(Fault::kFailed, "stopped on request after " + std::to_string(progress_.examples_of_phase()) +
                                        " examples, and nothing is kept: " + reason_to_save_nothing());
}

std::string SafePoint::reason_to_save_nothing() const {
  return writes() ? "a pipe cannot be read again" : "this run writes no checkpoints";
}

void SafePoint::on_input_idle() {
  if (!plan_.resumable()) comm_.answer_roll_call(WaitsFor::kInput);  // a file that gives nothing for so long is stuck
  if ((requests() & RequestBits::kStop) == 0 || enabled()) return;
  throw Error(Fault::kFailed,
              "stopped on request while it waited for input, and nothing is kept: " + reason_to_save_nothing());
}

// Afterwards every rank knows all cursors (C5: keyed by shard, whichever rank read it).
void SafePoint::gather_cursors(const std::vector<Cursor>& cursors) {
  std::vector<ShardCursor> mine;
  for (std::size_t i = 0; i < cursors.size(); ++i) mine.push_back({my_shards_[i], cursors[i]});
  for (const auto& bytes : all_gather_bytes(comm_, std::as_bytes(std::span(mine)), "checkpoint: cursors")) {
    for (const ShardCursor& reached : array_of<ShardCursor>(bytes)) {
      plan_.set_cursor(static_cast<std::uint32_t>(reached.shard), reached.cursor);
    }
  }
}

bool SafePoint::save() {
  if (!enabled()) return false;
  const auto start = Clock::now();
  const StallTimeoutExtension extension(comm_, timeout_for_disks(learner_.options()));
  Snapshot snapshot = take_snapshot_();
  RunState& state = snapshot.state;  // no structured binding: Clang 14 cannot capture one
  state.plan = plan_.state();
  state.progress = progress_.state();
  state.ranks = comm_.size();
  CheckpointReport report;
  run_on_all(comm_, "checkpoint: number", [&] {
    if (comm_.rank() != 0) return;
    if (!counts_agree(state))
      throw Error(Fault::kFailed, "the shards and the losses do not agree: no checkpoint is written");
    report.directory = Checkpoints(options_.directory).next();
  });
  report.bytes = write_checkpoint(learner_, comm_, snapshot.writers, state, report.directory);
  prune();  // C8: write_checkpoint() verified the new one
  warn_of_haste(start - last_time_);
  requests_ &= ~RequestBits::kCheckpoint;
  last_time_ = Clock::now();
  last_examples_ = progress_.examples_of_phase();
  ++written_;
  latest_ = report.directory;
  report.examples = progress_.examples_of_phase();
  report.run_seconds = progress_.seconds();
  report.seconds = std::chrono::duration<double>(last_time_ - start).count();
  seconds_ += report.seconds;
  progress_.report_checkpoint(report);
  return true;
}

// Most often a time was meant. The last passes of small data are short, too: some in a row are no accident.
void SafePoint::warn_of_haste(Clock::duration since_last) {
  constexpr int kMany = 10;
  const std::uint64_t every = options_.every_examples;
  hasty_ = every > 0 && since_last < std::chrono::seconds(1) ? hasty_ + 1 : 0;
  if (hasty_ != kMany || std::exchange(warned_of_haste_, true)) return;
  progress_.warn("--checkpoint-every " + std::to_string(every) + " is a number of examples, which take less than a " +
                 "second here; for a time give a unit, such as 600s or 10m");
}

void SafePoint::prune() {
  if (!writes()) return;
  const StallTimeoutExtension extension(comm_, timeout_for_disks(learner_.options()));
  run_on_all(comm_, "checkpoint: prune", [&] {
    if (comm_.rank() == 0) Checkpoints(options_.directory).prune(options_.keep, unusable_);
  });
}

}  // namespace cpt
