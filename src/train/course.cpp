#include "train/course.h"

#include <algorithm>
#include <unordered_map>

#include "core/checked.h"
#include "cpt/error.h"

namespace cpt {

namespace {

using ShardsByPath = std::unordered_map<std::string, const KnownShard*>;

ShardsByPath by_path(const std::vector<KnownShard>& shards) {
  ShardsByPath all;
  for (const KnownShard& known : shards) all.emplace(known.shard.path, &known);
  return all;
}

void require_same(const KnownShard& then, const KnownShard& now) {
  const std::string size = std::to_string(now.shard.bytes) + " bytes, but had " + std::to_string(then.shard.bytes);
  if (now.shard.bytes > then.shard.bytes) {
    throw Error(Fault::kBadData, now.shard.path + ": has grown since the checkpoint, it has " + size +
                                     "; put what is new into shards of its own");
  }
  if (now.shard.bytes != then.shard.bytes) {
    throw Error(Fault::kBadData, now.shard.path + ": has changed since the checkpoint, it has " + size);
  }
  if (now.head != then.head) {
    throw Error(Fault::kBadData, now.shard.path + ": has changed since the checkpoint, it begins with other bytes");
  }
}

void drop_pipes(std::vector<KnownShard>& shards) {
  std::erase_if(shards, [](const KnownShard& known) { return !known.shard.regular; });
}

}  // namespace

Course::Course(std::vector<KnownShard> data, std::vector<KnownShard> test, Options options)
    : state_{std::move(data), std::move(test), std::nullopt}, options_(options) {}

Course::Course(CourseState state, const std::vector<KnownShard>& data, const std::vector<KnownShard>& test,
               Options options)
    : state_(std::move(state)), options_(options) {
  require_all(Phase::kTrain, data);
  require_all(Phase::kTest, test);
  take_up(Phase::kTrain, data);
  take_up(Phase::kTest, test);
}

bool Course::in_leg(Phase phase, std::uint32_t number) const {
  return state_.leg && state_.leg->phase == phase && std::ranges::binary_search(state_.leg->shards, number);
}

void Course::require_all(Phase phase, const std::vector<KnownShard>& found) const {
  const ShardsByPath present = by_path(found);
  const std::uint32_t traversals = phase == Phase::kTrain ? options_.passes : 1;
  for (std::uint32_t number = 0; number < known(phase).size(); ++number) {
    const KnownShard& shard = known(phase)[number];
    const bool is_done = shard.traversals >= traversals && !in_leg(phase, number);
    if (is_done || present.contains(shard.shard.path)) continue;
    throw Error(Fault::kNoInput, shard.shard.path + ": has vanished since the checkpoint, and is not done yet");
  }
}

void Course::take_up(Phase phase, const std::vector<KnownShard>& found) {
  const ShardsByPath before = by_path(known(phase));
  std::vector<KnownShard> added;
  for (const KnownShard& now : found) {
    const auto then = before.find(now.shard.path);
    if (then == before.end()) {
      added.push_back(now);
    } else {
      require_same(*then->second, now);
    }
  }
  std::ranges::move(added, std::back_inserter(known(phase)));
}

std::optional<Leg> Course::next_leg() const {
  std::uint32_t least = options_.passes;
  for (const KnownShard& shard : state_.data) least = std::min(least, shard.traversals);
  Leg leg;
  if (least < options_.passes) {
    leg.pass = least + 1;
  } else {
    leg.phase = Phase::kTest;
    least = 0;
  }
  for (std::uint32_t number = 0; number < known(leg.phase).size(); ++number) {
    if (known(leg.phase)[number].traversals == least) leg.shards.push_back(number);
  }
  return leg.shards.empty() ? std::nullopt : std::optional(leg);
}

bool Course::begin_leg() {
  if (under_way()) return true;
  state_.leg = next_leg();
  if (!under_way()) return false;
  for (const std::uint32_t number : leg().shards) set_cursor(number, {});
  return true;
}

std::vector<Shard> Course::shards(Phase phase) const {
  std::vector<Shard> shards;
  for (const KnownShard& known_shard : known(phase)) shards.push_back(known_shard.shard);
  return shards;
}

std::uint64_t Course::examples() const {
  std::uint64_t examples = 0;
  for (const std::uint32_t number : leg().shards) examples += cursor(number).examples;
  return examples;
}

void Course::end_leg() {
  for (const std::uint32_t number : leg().shards) ++known(leg().phase)[number].traversals;
  // What was only predicted is predicted anew once the model is another one.
  if (leg().phase == Phase::kTrain && options_.test_frozen) {
    for (KnownShard& shard : state_.test) shard.traversals = 0;
  }
  state_.leg.reset();
}

bool Course::resumable() const {
  if (!under_way()) return true;
  const std::vector<KnownShard>& shards = known(leg().phase);
  return std::ranges::all_of(leg().shards, [&](std::uint32_t number) { return shards[number].shard.regular; });
}

CourseState Course::state() const {
  CourseState state = state_;
  if (!finished()) return state;
  drop_pipes(state.data);
  drop_pipes(state.test);
  return state;
}

}  // namespace cpt
