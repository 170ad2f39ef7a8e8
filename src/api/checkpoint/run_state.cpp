#include "api/checkpoint/run_state.h"

#include <algorithm>
#include <bit>
#include <exception>
#include <functional>

#include "cpt/error.h"
#include "data/shards/shards.h"

namespace cpt {

namespace {

// A third of a century; a clock of nanoseconds overflows after ten times that.
constexpr double kMostSeconds = 1e9;

// Invalid options mean damage, not a mistake of the user, since no run begins with them.
void check_options(const TrainingOptions& options, const std::string& name) {
  try {
    options.validate();
  } catch (const Error&) {
    std::throw_with_nested(Error(Fault::kBadData, name + ": the options of its state make no sense"));
  }
}

bool is_sound(const ProgressState& progress) {
  return std::has_single_bit(progress.next_report) && progress.next_report > progress.examples &&
         progress.seconds >= 0 && progress.seconds <= kMostSeconds;
}

// The numbers must ascend and name files among `shards`: a pass over a pipe is never stored.
bool is_sound(const ShardPass& shard_pass, const std::vector<TrackedShard>& shards) {
  return !shard_pass.shards.empty() && std::ranges::is_sorted(shard_pass.shards, std::less_equal()) &&
         shard_pass.shards.back() < shards.size() &&
         std::ranges::all_of(shard_pass.shards, [&](std::uint32_t number) { return shards[number].shard.regular; });
}

bool is_sound(const TrackedShard& known) {
  const FilePart& part = known.shard.part;
  return part.count == 1 ? part.index == 0
                         : known.shard.regular && part.index < part.count && part.count <= kMostFileParts &&
                               part.count <= known.shard.bytes;
}

const std::vector<TrackedShard>& shards_of(const TraversalState& plan) {
  return plan.shard_pass->phase == Phase::kTrain ? plan.data : plan.test;
}

}  // namespace

bool counts_agree(const RunState& state) {
  if (!state.plan.shard_pass) return true;
  std::uint64_t read = state.plan.shard_pass->examples_before;
  for (const std::uint32_t number : state.plan.shard_pass->shards)
    read += shards_of(state.plan)[number].cursor.examples;
  std::uint64_t learned = 0;
  for (const Losses& losses : state.progress.losses) learned += losses.examples;
  return read == learned;
}

void check_run_state(const RunState& state, const std::string& name) {
  check_options(state.options, name);
  if (state.ranks < 1) throw Error(Fault::kBadData, name + ": it has no ranks");
  if (!is_sound(state.progress)) throw Error(Fault::kBadData, name + ": its progress makes no sense");
  for (const auto* shards : {&state.plan.data, &state.plan.test}) {
    if (std::ranges::all_of(*shards, [](const TrackedShard& known) { return is_sound(known); })) continue;
    throw Error(Fault::kBadData, name + ": its shards are not parts of files");
  }
  if (!state.plan.shard_pass) return;
  const ShardPass& shard_pass = *state.plan.shard_pass;
  if (shard_pass.phase != state.progress.phase || !is_sound(shard_pass, shards_of(state.plan))) {
    throw Error(Fault::kBadData, name + ": its list of shards is not complete");
  }
  if (!counts_agree(state)) throw Error(Fault::kBadData, name + ": its shards and its losses do not agree");
}

}  // namespace cpt
