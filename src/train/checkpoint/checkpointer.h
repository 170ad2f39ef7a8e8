// When the state of a run is kept, and that it is.
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
#include "train/checkpoint/safe_point.h"
#include "train/input/traversal_plan.h"
#include "train/placement/ownership.h"
#include "train/progress/progress.h"

namespace cpt {

// Disks are slower than messages: how long others wait for a rank that writes what the learner has.
std::chrono::minutes timeout_for_disks(const Learner& learner);

// What a run shows of itself for a checkpoint.
class Keepsake {
 public:
  virtual ~Keepsake() = default;
  // Of the run now, but for course and progress, which are filled in.
  virtual RunState run_state() const = 0;
  // Which rank writes which partition: one that has it.
  virtual Owners writers() const = 0;
};

// One per rank; all ranks call everything alike, but for requests(). Borrows its arguments. `progress` is where the run
// stands: the first checkpoint is due so many examples later.
class Checkpointer : public SafePoint {
 public:
  Checkpointer(const CheckpointOptions& options, Communicator& comm, const Learner& learner, TraversalPlan& plan,
               Progress& progress, const Keepsake& run);

  // Rank 0 wants a checkpoint when the options say that one is due.
  std::uint64_t requests() override;
  // `cursors`: of this rank's shards of the shard_pass under way, as my_shards() has them. Throws Error(kStopped) after
  // a checkpoint, where a rank was asked to stop; Error(kFailed) if none can be written then.
  void pause(std::uint64_t requests, const std::vector<Cursor>& cursors) override;

  // For a rank of several that waits for input while all others wait for it, so that no pause can be had. Throws
  // Error(kFailed) if it was asked to stop, unless a checkpoint would come of it: that is worth waiting for.
  void stop_waiting_in_vain();

  // The shards of the shard_pass under way that this rank reads, as numbers.
  void set_my_shards(std::vector<std::uint32_t> shards) { my_shards_ = std::move(shards); }

  // Writes a checkpoint, unless there are to be none, and removes the oldest. Whether it did.
  bool keep();

  // Removes the oldest ones, unless there are to be none at all. The newest must have been verified (C8).
  void prune();

  std::uint64_t written() const { return written_; }
  // The one that was written last, on rank 0; empty where none was.
  const std::filesystem::path& latest() const { return latest_; }
  double seconds() const { return seconds_; }

 private:
  using Clock = std::chrono::steady_clock;

  bool enabled() const { return writes() && plan_.resumable(); }
  bool writes() const { return !options_.directory.empty() && options_.keep > 0; }
  bool due() const;
  void hear_requests();
  void gather_cursors(const std::vector<Cursor>& cursors);
  [[noreturn]] void stop(bool kept) const;
  std::string reason_to_keep_nothing() const;

  const CheckpointOptions& options_;
  Communicator& comm_;
  const Learner& learner_;
  TraversalPlan& plan_;
  Progress& progress_;
  const Keepsake& run_;
  std::vector<std::uint32_t> my_shards_;
  std::uint64_t requests_ = 0;  // of this rank, not granted yet
  Clock::time_point last_time_ = Clock::now();
  std::uint64_t last_examples_;
  std::uint64_t written_ = 0;
  std::filesystem::path latest_;
  double seconds_ = 0;
};

}  // namespace cpt
