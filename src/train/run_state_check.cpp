#include "train/run_state_check.h"

#include <algorithm>
#include <bit>
#include <exception>
#include <functional>

#include "cpt/error.h"

namespace cpt {

namespace {

// A third of a century; clocks count nanoseconds up to ten times that.
constexpr double kMostSeconds = 1e9;

// Options that no run can have begun with are damage, not a mistake of the user.
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

// Ascending numbers of files among `shards`: a leg that reads a pipe is never kept.
bool is_sound(const Leg& leg, const std::vector<KnownShard>& shards) {
  return !leg.shards.empty() && std::ranges::is_sorted(leg.shards, std::less_equal()) &&
         leg.shards.back() < shards.size() &&
         std::ranges::all_of(leg.shards, [&](std::uint32_t number) { return shards[number].shard.regular; });
}

void check_counts(const Leg& leg, const std::vector<KnownShard>& shards, const ProgressState& progress,
                  const std::string& name) {
  std::uint64_t read = leg.examples_before;
  for (const std::uint32_t number : leg.shards) read += shards[number].cursor.examples;
  std::uint64_t learned = 0;
  for (const Losses& losses : progress.losses) learned += losses.examples;
  if (read != learned) throw Error(Fault::kBadData, name + ": its shards and its losses do not agree");
}

}  // namespace

void check_run_state(const RunState& state, const std::string& name) {
  check_options(state.options, name);
  if (state.ranks < 1) throw Error(Fault::kBadData, name + ": it has no ranks");
  if (!is_sound(state.progress)) throw Error(Fault::kBadData, name + ": its progress makes no sense");
  if (!state.course.leg) return;
  const Leg& leg = *state.course.leg;
  const auto& shards = leg.phase == Phase::kTrain ? state.course.data : state.course.test;
  if (leg.phase != state.progress.phase || !is_sound(leg, shards)) {
    throw Error(Fault::kBadData, name + ": its shards are not whole");
  }
  check_counts(leg, shards, state.progress, name);
}

}  // namespace cpt
