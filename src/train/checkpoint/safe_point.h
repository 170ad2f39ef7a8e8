// The safe point between two rounds, at which a run can be saved or stopped.
#pragma once

#include <chrono>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <string>
#include <vector>

#include "api/checkpoint/run_state.h"
#include "comm/communicator.h"
#include "cpt/trainer.h"
#include "model/learning/learner.h"
#include "train/input/traversal_plan.h"
#include "train/placement/ownership.h"
#include "train/progress/progress.h"

namespace cpt {

// Requests to the run, as bits: those of all ranks are ORed.
struct RequestBits {
  static constexpr std::uint64_t kCheckpoint = 1;  // at the next safe point that changes no result
  // At the next possible safe point: hybrid and replicated ranks merge for it, which changes what they learn.
  static constexpr std::uint64_t kNow = 2;
  static constexpr std::uint64_t kStop = 4;  // end the run there
  // From rank 0 only, and not for the safe point: all ranks call Progress::report_stretch() when the round is done.
  static constexpr std::uint64_t kStretch = 8;
};

// By how much the stall timeout is extended while ranks read or write a model with these options.
std::chrono::minutes timeout_for_disks(const ModelOptions& model);

// Writes checkpoints and stops the run when its state is whole: the rest of the run is a function of the checkpoint and
// the shards (C7). A loop collects the requests of all ranks and calls pause() between two rounds. One per rank; all
// ranks make the same calls, except requests() and on_input_idle(). Borrows its arguments.
class SafePoint {
 public:
  // The state of the run now, without plan and progress, and for each partition a rank that has its weights.
  struct Snapshot {
    RunState state;
    Owners writers;
  };
  using TakeSnapshot = std::function<Snapshot()>;

  // The interval until the first checkpoint begins at the examples that `progress` has counted already. `unusable`:
  // checkpoints that could not be read, which are removed first.
  SafePoint(const CheckpointOptions& options, Communicator& comm, const Learner& learner, TraversalPlan& plan,
            Progress& progress, TakeSnapshot take_snapshot, std::vector<std::filesystem::path> unusable = {});

  // The shards of the current shard pass that this rank reads, by number.
  void set_my_shards(std::vector<std::uint32_t> shards) { my_shards_ = std::move(shards); }

  // The RequestBits of this rank, until pause() grants them. Rank 0 asks for a checkpoint when the options say that one
  // is due.
  std::uint64_t requests();

  // Grants the requests of all ranks. No example may be in flight; tree and labels, and replicated weights, must be
  // equal on all ranks. `cursors` are those of this rank's shards, in the order of set_my_shards(). Throws
  // Error(kStopped) after a checkpoint if a rank asked to stop; Error(kFailed) if no checkpoint can be written then.
  void pause(std::uint64_t requests, const std::vector<Cursor>& cursors);

  // A validation, which changes nothing: until it ends, pause() saves the state at its begin, with these cursors in
  // place of those of the validation's shards. Collective.
  void begin_validation(const std::vector<Cursor>& cursors);
  void end_validation() { validates_ = false; }

  // Called while this rank waits for input and all others wait for this rank, so that no safe point can be reached. If
  // pipes are read, tells the others that it waits. If the rank was asked to stop, throws Error(kFailed), unless
  // waiting for the safe point would yield a checkpoint.
  void on_input_idle();

  // Whether this run writes checkpoints.
  bool enabled() const { return writes() && plan_.resumable(); }

  // Writes a checkpoint and removes the oldest ones. Returns false if this run writes none.
  bool save();

  // Removes the oldest checkpoints, if this run writes any. The newest must have been verified (C8).
  void prune();

  std::uint64_t written() const { return written_; }
  double seconds() const { return seconds_; }
  // The newest checkpoint of this run, on rank 0; empty if there is none.
  const std::filesystem::path& latest() const { return latest_; }

 private:
  using Clock = std::chrono::steady_clock;

  bool writes() const { return !options_.directory.empty() && options_.keep > 0; }
  bool due() const;
  void warn_of_haste(Clock::duration since_last);
  void gather_cursors(const std::vector<Cursor>& cursors);
  [[noreturn]] void stop(bool saved) const;
  std::string reason_to_save_nothing() const;

  const CheckpointOptions& options_;
  Communicator& comm_;
  const Learner& learner_;
  TraversalPlan& plan_;
  Progress& progress_;
  TakeSnapshot take_snapshot_;
  std::vector<std::filesystem::path> unusable_;
  std::vector<std::uint32_t> my_shards_;
  bool validates_ = false;
  std::uint64_t requests_ = 0;  // of this rank, not granted yet
  Clock::time_point last_time_ = Clock::now();
  std::uint64_t last_examples_;
  bool warned_of_haste_ = false;
  int hasty_ = 0;  // checkpoints in a row that came less than a second after the one before
  std::uint64_t written_ = 0;
  std::filesystem::path latest_;
  double seconds_ = 0;
};

}  // namespace cpt
