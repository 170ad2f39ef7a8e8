#include "train/run_state_check.h"

#include <algorithm>
#include <bit>
#include <exception>
#include <functional>

#include "cpt/error.h"
#include "data/split.h"

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

bool is_sound(const KnownShard& known) {
  const FilePart& part = known.shard.part;
  return part.count == 1 ? part.index == 0
                         : known.shard.regular && part.index < part.count && part.count <= kMostFileParts &&
                               part.count <= known.shard.bytes;
}

const std::vector<KnownShard>& shards_of(const CourseState& course) {
  return course.leg->phase == Phase::kTrain ? course.data : course.test;
}

}  // namespace

bool counts_agree(const RunState& state) {
  if (!state.course.leg) return true;
  std::uint64_t read = state.course.leg->examples_before;
  for (const std::uint32_t number : state.course.leg->shards) read += shards_of(state.course)[number].cursor.examples;
  std::uint64_t learned = 0;
  for (const Losses& losses : state.progress.losses) learned += losses.examples;
  return read == learned;
}

void check_run_state(const RunState& state, const std::string& name) {
  check_options(state.options, name);
  if (state.ranks < 1) throw Error(Fault::kBadData, name + ": it has no ranks");
  if (!is_sound(state.progress)) throw Error(Fault::kBadData, name + ": its progress makes no sense");
  for (const auto* shards : {&state.course.data, &state.course.test}) {
    if (std::ranges::all_of(*shards, [](const KnownShard& known) { return is_sound(known); })) continue;
    throw Error(Fault::kBadData, name + ": its shards are no parts of files");
  }
  if (!state.course.leg) return;
  const Leg& leg = *state.course.leg;
  if (leg.phase != state.progress.phase || !is_sound(leg, shards_of(state.course))) {
    throw Error(Fault::kBadData, name + ": its shards are not whole");
  }
  if (!counts_agree(state)) throw Error(Fault::kBadData, name + ": its shards and its losses do not agree");
}

}  // namespace cpt
