// The way of a run through its shards: which are read in which order, how far, and what is left. The same on all ranks.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "cpt/trainer.h"
#include "data/cursor.h"
#include "data/shards.h"

namespace cpt {

// A shard that a run has met. Its number, in the list of all that the run has met, is its for good.
struct KnownShard {
  Shard shard;
  std::uint64_t head = 0;        // head_checksum()
  std::uint32_t traversals = 0;  // done
  Cursor cursor;                 // in the traversal under way
};

// One traversal of some shards.
struct Leg {
  Phase phase = Phase::kTrain;
  std::uint32_t pass = 0;             // 1, 2, ...; 0 for test shards
  std::vector<std::uint32_t> shards;  // ascending numbers, in the list of its phase
  std::uint64_t examples_before = 0;  // that the run counted in this phase before the leg
};

// What a course is, to be kept and taken up again.
struct CourseState {
  std::vector<KnownShard> data;
  std::vector<KnownShard> test;
  std::optional<Leg> leg;  // under way
};

// Every data shard is traversed `passes` times: in pass p those that were traversed p - 1 times. So one that turns up
// later, in a run that goes on, has all its passes then, and one that is done has no more. Test shards follow, once
// each; if nothing is learned from them, all of them again whenever training has gone on.
class Course {
 public:
  struct Options {
    std::uint32_t passes = 1;
    bool test_frozen = false;
  };

  Course(std::vector<KnownShard> data, std::vector<KnownShard> test, Options options);
  // Goes on in `state` with the shards that are found now: known ones are told by their paths, or, where folders have
  // other names now, by name, size and beginning, and by which part of the file they are; others are new and follow
  // them. Throws Error(kNoInput) where a shard that is not done has vanished, Error(kBadData) where a known one has
  // another size or another beginning.
  Course(CourseState state, const std::vector<KnownShard>& data, const std::vector<KnownShard>& test, Options options);
  // What the user should know of how it goes on: a new shard that may be one that is done and has vanished.
  const std::vector<std::string>& warnings() const { return warnings_; }

  // Makes leg() the next traversal, unless one is under way; false when all is done.
  bool begin_leg();
  bool under_way() const { return state_.leg.has_value(); }
  // Whether nothing is left.
  bool finished() const { return !under_way() && !next_leg(); }
  const Leg& leg() const { return *state_.leg; }
  void set_examples_before(std::uint64_t examples) { state_.leg->examples_before = examples; }
  // All known shards of a phase, by number.
  std::vector<Shard> shards(Phase phase) const;
  // How far a shard of the leg is read.
  const Cursor& cursor(std::uint32_t number) const { return known(leg().phase)[number].cursor; }
  void set_cursor(std::uint32_t number, const Cursor& cursor) { known(leg().phase)[number].cursor = cursor; }
  // By leg() so far, all shards together (C6).
  std::uint64_t examples() const;
  void end_leg();

  // Whether all shards of the leg can be read again from anywhere.
  bool resumable() const;
  // To go on from. Of a run that is finished without its pipes: what they bring next time is new.
  CourseState state() const;

 private:
  std::vector<KnownShard>& known(Phase phase) { return phase == Phase::kTrain ? state_.data : state_.test; }
  const std::vector<KnownShard>& known(Phase phase) const { return phase == Phase::kTrain ? state_.data : state_.test; }
  std::optional<Leg> next_leg() const;
  bool is_done(Phase phase, std::uint32_t number) const;
  void take_up(Phase phase, const std::vector<KnownShard>& found);

  CourseState state_;
  Options options_;
  std::vector<std::string> warnings_;
};

}  // namespace cpt
