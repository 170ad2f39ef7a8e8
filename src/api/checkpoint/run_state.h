// The state of a run between two rounds: everything but the learner that the rest of the run depends on.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "cpt/trainer.h"
#include "data/shards/shards.h"

namespace cpt {

// A shard that this run has seen. Its index in the list of all seen shards never changes.
struct TrackedShard {
  Shard shard;
  std::uint64_t head = 0;        // head_checksum()
  std::uint32_t traversals = 0;  // completed
  Cursor cursor;                 // in the current traversal
};

// One traversal of some shards.
struct ShardPass {
  Phase phase = Phase::kTrain;
  std::uint32_t pass = 0;             // 1, 2, ...; 0 for test shards
  std::vector<std::uint32_t> shards;  // ascending indices in the list of its phase
  std::uint64_t examples_before = 0;  // examples of this phase before this pass
};

// The state of a TraversalPlan.
struct TraversalState {
  std::vector<TrackedShard> data;
  std::vector<TrackedShard> test;
  std::optional<ShardPass> shard_pass;  // the current one
};

// The state of the figures of a run, on which its later reports depend.
struct ProgressState {
  Phase phase = Phase::kTrain;
  std::uint32_t pass = 0;
  std::uint64_t examples = 0;  // of the phase, by all ranks
  std::uint64_t next_report = 1;
  std::vector<Losses> losses;  // of the phase: addends of the total, by rank
  Losses last_report;
  std::uint64_t rounds = 0;
  std::uint64_t sync_points = 0;
  double seconds = 0;
};

// The counts of a schedule of sync intervals.
struct SyncCounts {
  std::uint64_t in_interval = 0;  // examples that all ranks together learned in the current sync interval
  std::uint64_t all = 0;          // ... and in the run
};

// The state of a validation that later ones need, besides its figures in the summary.
struct ValidationState {
  std::uint64_t next = 0;   // lines of the pass before its next validation; 0: none before the end of the pass
  std::uint64_t model = 0;  // ModelHead::digest of the best model that was written; 0: none
  std::uint64_t data = 0;   // digest of the validation data
};

struct RunState {
  TrainingOptions options;  // including those of the model, without `checkpoints`
  std::uint64_t init_digest = 0;
  TraversalState plan;
  ProgressState progress;
  SyncCounts sync_points;
  std::uint64_t next_renewal = 0;  // see Renewals; 0 between passes
  ValidationState validation;
  Summary summary;        // losses and bad lines of the phases and passes that are finished; validations
  bool finished = false;  // nothing is left to read
  int ranks = 1;          // number of ranks that wrote it; for information
};

// Whether the cursors of the current shard pass count as many examples as were learned (C6). The indices of its shards
// must be in range.
bool counts_agree(const RunState& state);

// Throws Error(kBadData) that begins with `name`, unless the options are in their ranges, the shards are files or parts
// of files, the current shard pass lists some of them, and counts_agree().
void check_run_state(const RunState& state, const std::string& name);

}  // namespace cpt
