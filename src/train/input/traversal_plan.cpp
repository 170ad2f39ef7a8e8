#include "train/input/traversal_plan.h"

#include <algorithm>
#include <filesystem>
#include <map>
#include <system_error>
#include <tuple>
#include <utility>

#include "core/checked.h"
#include "cpt/error.h"

namespace cpt {

namespace {

using Numbers = std::vector<std::optional<std::uint32_t>>;

// What identifies a file after a folder above it was renamed.
using Traits = std::tuple<std::string, std::uint64_t, std::uint64_t, std::uint32_t>;

Traits traits_of(const TrackedShard& known) {
  return {std::filesystem::path(known.shard.path).filename().string(), known.shard.bytes, known.head,
          known.shard.part.index};
}

// The path of a shard, and its part of the file.
using PathAndPart = std::pair<std::string, std::uint32_t>;

PathAndPart path_and_part_of(const TrackedShard& known) { return {known.shard.path, known.shard.part.index}; }

// Returns for each found shard the number of the known one that it is: one of the same path and part, else of the
// same traits.
Numbers recognize(const std::vector<TrackedShard>& known, const std::vector<TrackedShard>& found) {
  std::map<PathAndPart, std::uint32_t> by_path;
  for (std::uint32_t number = 0; number < known.size(); ++number) {
    by_path.emplace(path_and_part_of(known[number]), number);
  }
  Numbers numbers(found.size());
  for (std::size_t i = 0; i < found.size(); ++i) {
    const auto same = by_path.find(path_and_part_of(found[i]));
    if (same == by_path.end()) continue;
    numbers[i] = same->second;
    by_path.erase(same);
  }
  std::multimap<Traits, std::uint32_t> by_traits;
  for (const auto& [path_and_part, number] : by_path) {
    if (known[number].shard.regular) by_traits.emplace(traits_of(known[number]), number);
  }
  for (std::size_t i = 0; i < found.size(); ++i) {
    const auto alike = numbers[i] ? by_traits.end() : by_traits.find(traits_of(found[i]));
    if (alike == by_traits.end()) continue;
    numbers[i] = alike->second;
    by_traits.erase(alike);
  }
  return numbers;
}

// C4, for input.
void require_same(const TrackedShard& then, const TrackedShard& now) {
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

// Whether it may be the file of a known shard, renamed or compressed.
bool may_be(const TrackedShard& known, const TrackedShard& found) {
  if (!known.shard.regular || known.shard.part.index != found.shard.part.index) return false;
  const std::string name = std::filesystem::path(known.shard.path).filename().string() + ".";
  return (known.shard.bytes == found.shard.bytes && known.head == found.head) ||
         std::filesystem::path(found.shard.path).filename().string().starts_with(name);
}

void warn_if_among(const std::vector<TrackedShard>& gone, const TrackedShard& found,
                   std::vector<std::string>& warnings) {
  const auto same = std::ranges::find_if(gone, [&](const TrackedShard& known) { return may_be(known, found); });
  if (same == gone.end()) return;
  warnings.push_back(found.shard.path + " may be " + same->shard.path +
                     ", which is done and has vanished, under another name: it is read as a new shard");
}

void drop_pipes(std::vector<TrackedShard>& shards) {
  std::erase_if(shards, [](const TrackedShard& known) { return !known.shard.regular; });
}

}  // namespace

TraversalPlan::TraversalPlan(std::vector<TrackedShard> data, std::vector<TrackedShard> test, Options options)
    : state_{std::move(data), std::move(test), std::nullopt}, options_(options) {}

TraversalPlan::TraversalPlan(TraversalState state, const std::vector<TrackedShard>& data,
                             const std::vector<TrackedShard>& test, Options options)
    : state_(std::move(state)), options_(options) {
  take_up(Phase::kTrain, data);
  take_up(Phase::kTest, test);
  if (!test.empty() && !options_.test_frozen) warn_of_tests_left_out();
}

// Test shards that were learned would be no test again.
void TraversalPlan::warn_of_tests_left_out() {
  const std::optional<ShardPass> next = under_way() ? state_.shard_pass : next_pass();
  if (!next || next->phase != Phase::kTrain) return;
  const auto done = std::ranges::count_if(state_.test, [](const TrackedShard& shard) { return shard.traversals > 0; });
  if (done == 0) return;
  warnings_.push_back("--test: " + std::to_string(done) + (done == 1 ? " shard was" : " shards were") +
                      " tested and learned earlier in the run, and will not be tested again; --test-frozen would not "
                      "learn them");
}

bool TraversalPlan::is_done(Phase phase, std::uint32_t number) const {
  const bool in_pass = state_.shard_pass && state_.shard_pass->phase == phase &&
                       std::ranges::binary_search(state_.shard_pass->shards, number);
  return !in_pass && known(phase)[number].traversals >= (phase == Phase::kTrain ? options_.passes : 1);
}

void TraversalPlan::take_up(Phase phase, const std::vector<TrackedShard>& found) {
  std::vector<TrackedShard>& shards = known(phase);
  const Numbers numbers = recognize(shards, found);
  std::vector<bool> is_there(shards.size());
  for (const auto& number : numbers) {
    if (number) is_there[*number] = true;
  }
  std::vector<TrackedShard> gone;
  for (std::uint32_t number = 0; number < shards.size(); ++number) {
    if (is_there[number]) continue;
    if (!is_done(phase, number)) {
      const std::string& path = shards[number].shard.path;
      std::error_code unknown;
      const char* const lack = std::filesystem::exists(path, unknown) ? ": is not among the shards that are given now"
                                                                      : ": has vanished since the checkpoint";
      throw Error(Fault::kNoInput, path + lack + ", and is not done yet");
    }
    gone.push_back(shards[number]);
  }
  for (std::size_t i = 0; i < found.size(); ++i) {
    if (numbers[i]) {
      require_same(shards[*numbers[i]], found[i]);
      shards[*numbers[i]].shard.path = found[i].shard.path;
    } else {
      (phase == Phase::kTrain ? new_data_ : new_tests_).push_back(found[i].shard);
      warn_if_among(gone, found[i], warnings_);
      shards.push_back(found[i]);
    }
  }
}

std::optional<ShardPass> TraversalPlan::next_pass() const {
  std::uint32_t least = options_.passes;
  for (const TrackedShard& shard : state_.data) least = std::min(least, shard.traversals);
  ShardPass shard_pass;
  if (least < options_.passes) {
    shard_pass.pass = least + 1;
  } else {
    shard_pass.phase = Phase::kTest;
    least = 0;
  }
  for (std::uint32_t number = 0; number < known(shard_pass.phase).size(); ++number) {
    if (known(shard_pass.phase)[number].traversals == least) shard_pass.shards.push_back(number);
  }
  return shard_pass.shards.empty() ? std::nullopt : std::optional(shard_pass);
}

bool TraversalPlan::begin_pass() {
  if (under_way()) return true;
  state_.shard_pass = next_pass();
  if (!under_way()) return false;
  for (const std::uint32_t number : shard_pass().shards) set_cursor(number, {});
  return true;
}

std::vector<Shard> TraversalPlan::shards(Phase phase) const {
  std::vector<Shard> shards;
  for (const TrackedShard& known_shard : known(phase)) shards.push_back(known_shard.shard);
  return shards;
}

std::uint64_t TraversalPlan::examples() const {
  std::uint64_t examples = 0;
  for (const std::uint32_t number : shard_pass().shards) examples += cursor(number).examples;
  return examples;
}

void TraversalPlan::end_pass() {
  for (const std::uint32_t number : shard_pass().shards) ++known(shard_pass().phase)[number].traversals;
  // Test examples that are only predicted are predicted again after the model has changed.
  if (shard_pass().phase == Phase::kTrain && options_.test_frozen) {
    for (TrackedShard& shard : state_.test) shard.traversals = 0;
  }
  state_.shard_pass.reset();
}

void TraversalPlan::require_unchanged(const std::vector<std::uint32_t>& numbers) const {
  const TrackedShard* before = nullptr;
  for (const std::uint32_t number : numbers) {
    const TrackedShard& now = known(shard_pass().phase)[number];
    const bool is_same_file = before != nullptr && before->shard.path == now.shard.path;  // another part of it
    if (!is_same_file) cpt::require_unchanged(now.shard, now.head);
    before = &now;
  }
}

void TraversalPlan::end_training() {
  for (TrackedShard& shard : state_.data) shard.traversals = std::max(shard.traversals, options_.passes);
}

bool TraversalPlan::resumable() const {
  if (!under_way()) return true;
  const std::vector<TrackedShard>& shards = known(shard_pass().phase);
  return std::ranges::all_of(shard_pass().shards, [&](std::uint32_t number) { return shards[number].shard.regular; });
}

TraversalState TraversalPlan::state() const {
  TraversalState state = state_;
  if (!finished()) return state;
  drop_pipes(state.data);
  drop_pipes(state.test);
  return state;
}

}  // namespace cpt
