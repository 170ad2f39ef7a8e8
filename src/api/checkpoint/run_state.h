// Where a run stands between two rounds: all that its future depends on, but for the learner.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "cpt/trainer.h"
#include "data/shards/shards.h"

namespace cpt {

// A shard that a run has met. Its number, in the list of all that the run has met, is its for good.
struct TrackedShard {
  Shard shard;
  std::uint64_t head = 0;        // head_checksum()
  std::uint32_t traversals = 0;  // done
  Cursor cursor;                 // in the traversal under way
};

// One traversal of some shards.
struct ShardPass {
  Phase phase = Phase::kTrain;
  std::uint32_t pass = 0;             // 1, 2, ...; 0 for test shards
  std::vector<std::uint32_t> shards;  // ascending numbers, in the list of its phase
  std::uint64_t examples_before = 0;  // that the run counted in this phase before the shard_pass
};

// What a course is, to be kept and taken up again.
struct TraversalState {
  std::vector<TrackedShard> data;
  std::vector<TrackedShard> test;
  std::optional<ShardPass> shard_pass;  // under way
};

// All that figures to come depend on.
struct ProgressState {
  Phase phase = Phase::kTrain;
  std::uint32_t pass = 0;
  std::uint64_t examples = 0;  // of the phase, done by all ranks
  std::uint64_t next_report = 1;
  std::vector<Losses> losses;  // of the phase: parts whose sum in this order is the total
  Losses last_report;
  std::uint64_t rounds = 0;
  std::uint64_t sync_points = 0;
  double seconds = 0;
};

// What a sync interval schedule has counted.
struct SyncCounts {
  std::uint64_t in_interval = 0;  // examples learned in the sync interval under way, by all ranks together
  std::uint64_t all = 0;          // ... and in the run
};

struct RunState {
  TrainingOptions options;  // with those of the model; nothing of them that concerns checkpoints
  std::uint64_t init_digest = 0;
  TraversalState plan;
  ProgressState progress;
  SyncCounts sync_points;
  Summary summary;        // of what is finished: losses and bad lines of phases and passes
  bool finished = false;  // nothing was left to read
  int ranks = 1;          // that wrote it; for information
};

}  // namespace cpt
