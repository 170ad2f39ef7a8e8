// The plan of a run: which shards it reads in which order, how far each is read, and which are left. Equal on all
// ranks.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "api/checkpoint/run_state.h"
#include "cpt/trainer.h"
#include "data/shards/shards.h"

namespace cpt {

// Every data shard is traversed `passes` times: pass p reads the shards that were traversed p - 1 times. So a shard
// that is added to a resumed run gets all its passes, and one that is done gets no more. Test shards follow, once each;
// if the run does not learn from them, all of them are read again after any further training.
class TraversalPlan {
 public:
  struct Options {
    std::uint32_t passes = 1;
    bool test_frozen = false;
  };

  TraversalPlan(std::vector<TrackedShard> data, std::vector<TrackedShard> test, Options options);
  // Resumes from `state` with the shards found now. A known shard is recognized by its path and part, or, if folders
  // were renamed, by file name, size, first bytes and part; all others are new and follow. Throws Error(kNoInput) if a
  // shard that is not done has vanished, Error(kBadData) if a known one has another size or other first bytes.
  TraversalPlan(TraversalState state, const std::vector<TrackedShard>& data, const std::vector<TrackedShard>& test,
                Options options);
  // For the user: new shards that may be finished ones under another name, test shards that are not tested again.
  const std::vector<std::string>& warnings() const { return warnings_; }

  // Makes shard_pass() the next traversal, unless one is under way. Returns false if nothing is left.
  bool begin_pass();
  bool under_way() const { return state_.shard_pass.has_value(); }
  // Returns whether nothing is left.
  bool finished() const { return !under_way() && !next_pass(); }
  // For a resumed run that had finished: whether it only makes further passes over the same data, and so is still the
  // same run. False if there are new shards, or any test shards.
  bool adds_only_passes() const { return new_data_.empty() && state_.test.empty(); }
  // Of a resumed run: the shards that the checkpoint does not know.
  const std::vector<Shard>& new_shards(Phase phase) const { return phase == Phase::kTrain ? new_data_ : new_tests_; }
  const ShardPass& shard_pass() const { return *state_.shard_pass; }
  void set_examples_before(std::uint64_t examples) { state_.shard_pass->examples_before = examples; }
  // All known shards of a phase, by number.
  std::vector<Shard> shards(Phase phase) const;
  // How far a shard of shard_pass() was read.
  const Cursor& cursor(std::uint32_t number) const { return known(shard_pass().phase)[number].cursor; }
  void set_cursor(std::uint32_t number, const Cursor& cursor) { known(shard_pass().phase)[number].cursor = cursor; }
  // The examples that shard_pass() has read so far in all shards (C6).
  std::uint64_t examples() const;
  void end_pass();
  // That these shards of shard_pass() are still the files that the job found when it started; see data/shards/shards.h.
  void require_unchanged(const std::vector<std::uint32_t>& numbers) const;
  // Between passes: leaves out all further passes over the data that is known now.
  void end_training();

  // Whether all shards of shard_pass() can be read again from any cursor.
  bool resumable() const;
  // The state to resume from. That of a finished run leaves out pipes: their next data is new.
  TraversalState state() const;

 private:
  std::vector<TrackedShard>& known(Phase phase) { return phase == Phase::kTrain ? state_.data : state_.test; }
  const std::vector<TrackedShard>& known(Phase phase) const {
    return phase == Phase::kTrain ? state_.data : state_.test;
  }
  std::optional<ShardPass> next_pass() const;
  bool is_done(Phase phase, std::uint32_t number) const;
  void take_up(Phase phase, const std::vector<TrackedShard>& found);
  void warn_of_tests_left_out();

  TraversalState state_;
  Options options_;
  std::vector<Shard> new_data_;  // of the resumed run
  std::vector<Shard> new_tests_;
  std::vector<std::string> warnings_;
};

}  // namespace cpt
