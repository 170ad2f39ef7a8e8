#include "train/checkpoint/checkpointer.h"

#include <cstring>
#include <string>

#include "api/checkpoint/run_state_check.h"
#include "comm/agreement.h"
#include "comm/collectives.h"
#include "cpt/error.h"
#include "store/run/checkpoints.h"
#include "train/checkpoint/checkpoint_writer.h"

namespace cpt {

namespace {

// A shard and how far it was read, on its way to all ranks.
struct Reached {
  std::uint64_t shard;
  Cursor cursor;
};

}  // namespace

// A minute more per GiB of the table.
std::chrono::minutes timeout_for_disks(const Learner& learner) {
  return std::chrono::minutes(1 + (learner.weights().bytes() >> 30));
}

Checkpointer::Checkpointer(const CheckpointOptions& options, Communicator& comm, const Learner& learner,
                           TraversalPlan& plan, Progress& progress, const Keepsake& run)
    : options_(options),
      comm_(comm),
      learner_(learner),
      plan_(plan),
      progress_(progress),
      run_(run),
      last_examples_(progress.examples()) {}

std::uint64_t Checkpointer::requests() {
  hear_requests();
  if (comm_.rank() == 0 && due()) requests_ |= RequestBits::kCheckpoint;
  return requests_;
}

void Checkpointer::hear_requests() {
  switch (options_.requested ? options_.requested() : Request::kNone) {
    case Request::kNone:
      break;
    case Request::kCheckpoint:
      requests_ |= RequestBits::kCheckpoint | RequestBits::kNow;
      break;
    case Request::kStop:
      requests_ |= RequestBits::kStop | RequestBits::kNow;
      break;
  }
}

bool Checkpointer::due() const {
  if (!enabled()) return false;
  if (options_.every.count() > 0 && Clock::now() - last_time_ >= options_.every) return true;
  const std::uint64_t now = progress_.examples();
  const std::uint64_t since = now >= last_examples_ ? now - last_examples_ : now;  // phases count anew
  return options_.every_examples > 0 && since >= options_.every_examples;
}

void Checkpointer::pause(std::uint64_t requests, const std::vector<Cursor>& cursors) {
  requests_ = 0;
  gather_cursors(cursors);
  const bool kept = enabled();
  if (kept) {
    keep();
  } else if ((requests & RequestBits::kStop) == 0) {
    progress_.warn("a checkpoint was asked for, but this run writes none");
  }
  if ((requests & RequestBits::kStop) != 0) stop(kept);
}

void Checkpointer::stop(bool kept) const {
  const std::string where = std::to_string(progress_.examples()) + " examples";
  if (kept) throw AgreedError(Fault::kStopped, "stopped on request, with a checkpoint; start again with --resume");
  throw AgreedError(Fault::kFailed,
                    "stopped on request after " + where + ", and nothing is kept: " + reason_to_keep_nothing());
}

std::string Checkpointer::reason_to_keep_nothing() const {
  return writes() ? "a pipe cannot be read again" : "this run writes no checkpoints";
}

void Checkpointer::stop_waiting_in_vain() {
  if ((requests() & RequestBits::kStop) == 0 || enabled()) return;
  throw Error(Fault::kFailed,
              "stopped on request while it waited for input, and nothing is kept: " + reason_to_keep_nothing());
}

// Afterwards every rank knows how far all are (C5: by shard, whoever read it).
void Checkpointer::gather_cursors(const std::vector<Cursor>& cursors) {
  std::vector<Reached> mine;
  for (std::size_t i = 0; i < cursors.size(); ++i) mine.push_back({my_shards_[i], cursors[i]});
  for (const auto& bytes : all_gather_bytes(comm_, std::as_bytes(std::span(mine)), "checkpoint: cursors")) {
    for (std::size_t at = 0; at < bytes.size(); at += sizeof(Reached)) {
      Reached reached;
      std::memcpy(&reached, bytes.data() + at, sizeof reached);
      plan_.set_cursor(static_cast<std::uint32_t>(reached.shard), reached.cursor);
    }
  }
}

bool Checkpointer::keep() {
  if (!enabled()) return false;
  const auto start = Clock::now();
  const StallTimeoutExtension extension(comm_, timeout_for_disks(learner_));
  RunState state = run_.run_state();
  state.plan = plan_.state();
  state.progress = progress_.state();
  state.ranks = comm_.size();
  run_on_all(comm_, "checkpoint: counts", [&] {
    if (comm_.rank() != 0 || counts_agree(state)) return;
    throw Error(Fault::kFailed, "the shards and the losses do not agree: no checkpoint is written");
  });
  CheckpointReport report;
  run_on_all(comm_, "checkpoint: number", [&] {
    if (comm_.rank() == 0) report.directory = Checkpoints(options_.directory).next();
  });
  report.bytes = write_checkpoint(learner_, comm_, run_.writers(), state, report.directory);
  prune();  // C8: the new one was verified
  last_time_ = Clock::now();
  last_examples_ = progress_.examples();
  ++written_;
  latest_ = report.directory;
  report.examples = progress_.examples();
  report.run_seconds = progress_.seconds();
  report.seconds = std::chrono::duration<double>(last_time_ - start).count();
  seconds_ += report.seconds;
  progress_.tell_checkpoint(report);
  return true;
}

void Checkpointer::prune() {
  if (!writes()) return;
  run_on_all(comm_, "checkpoint: prune", [&] {
    if (comm_.rank() == 0) Checkpoints(options_.directory).prune(options_.keep);
  });
}

}  // namespace cpt
