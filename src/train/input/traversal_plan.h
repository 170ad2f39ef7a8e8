// The way of a run through its shards: which are read in which order, how far, and what is left. The same on all ranks.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "api/checkpoint/run_state.h"
#include "cpt/trainer.h"
#include "data/shards/shards.h"

namespace cpt {

// Every data shard is traversed `passes` times: in pass p those that were traversed p - 1 times. So one that turns up
// later, in a run that goes on, has all its passes then, and one that is done has no more. Test shards follow, once
// each; if nothing is learned from them, all of them again whenever training has gone on.
class TraversalPlan {
 public:
  struct Options {
    std::uint32_t passes = 1;
    bool test_frozen = false;
  };

  TraversalPlan(std::vector<TrackedShard> data, std::vector<TrackedShard> test, Options options);
  // Goes on in `state` with the shards that are found now: known ones are told by their paths, or, where folders have
  // other names now, by name, size and beginning, and by which part of the file they are; others are new and follow
  // them. Throws Error(kNoInput) where a shard that is not done has vanished, Error(kBadData) where a known one has
  // another size or another beginning.
  TraversalPlan(TraversalState state, const std::vector<TrackedShard>& data, const std::vector<TrackedShard>& test,
                Options options);
  // What the user should know of how it goes on: a new shard that may be one that is done and has vanished.
  const std::vector<std::string>& warnings() const { return warnings_; }

  // Makes shard_pass() the next traversal, unless one is under way; false when all is done.
  bool begin_pass();
  bool under_way() const { return state_.shard_pass.has_value(); }
  // Whether nothing is left.
  bool finished() const { return !under_way() && !next_pass(); }
  const ShardPass& shard_pass() const { return *state_.shard_pass; }
  void set_examples_before(std::uint64_t examples) { state_.shard_pass->examples_before = examples; }
  // All known shards of a phase, by number.
  std::vector<Shard> shards(Phase phase) const;
  // How far a shard of the shard_pass is read.
  const Cursor& cursor(std::uint32_t number) const { return known(shard_pass().phase)[number].cursor; }
  void set_cursor(std::uint32_t number, const Cursor& cursor) { known(shard_pass().phase)[number].cursor = cursor; }
  // By shard_pass() so far, all shards together (C6).
  std::uint64_t examples() const;
  void end_pass();

  // Whether all shards of the shard_pass can be read again from anywhere.
  bool resumable() const;
  // To go on from. Of a run that is finished without its pipes: what they bring next time is new.
  TraversalState state() const;

 private:
  std::vector<TrackedShard>& known(Phase phase) { return phase == Phase::kTrain ? state_.data : state_.test; }
  const std::vector<TrackedShard>& known(Phase phase) const {
    return phase == Phase::kTrain ? state_.data : state_.test;
  }
  std::optional<ShardPass> next_pass() const;
  bool is_done(Phase phase, std::uint32_t number) const;
  void take_up(Phase phase, const std::vector<TrackedShard>& found);

  TraversalState state_;
  Options options_;
  std::vector<std::string> warnings_;
};

}  // namespace cpt
