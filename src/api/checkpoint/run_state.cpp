#include "api/checkpoint/run_state.h"

#include <algorithm>
#include <bit>
#include <exception>
#include <functional>
#include <string>
#include <utility>

#include "api/checkpoint/run_state_archive.h"
#include "cpt/error.h"
#include "data/shards/shards.h"

namespace cpt {

namespace {

// About 32 years; a 64-bit clock of nanoseconds overflows after nine times that.
constexpr double kMostSeconds = 1e9;

// Invalid options mean damage, not a mistake of the user, since no run begins with them.
void check_options(const TrainingOptions& options, const std::string& name) {
  try {
    options.validate();
  } catch (const Error&) {
    std::throw_with_nested(Error(Fault::kBadData, name + ": the options of its state are invalid"));
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

// Calls visit(losses) for all losses. `State` is a RunState, const or not.
template <class State, class Visit>
void for_each_losses(State& state, Visit visit) {
  for (auto& losses : state.progress.losses) visit(losses);
  visit(state.progress.last_report);
  visit(state.summary.train);
  visit(state.summary.test);
  for (auto* validation : {&state.summary.last_validation, &state.summary.best_validation}) {
    if (*validation) visit((*validation)->losses);
  }
}

// Calls visit(sum) for the sums of all losses that a format has, in the order of exact_sums().
template <class State, class Visit>
void for_each_sum(State& state, std::uint32_t format, Visit visit) {
  for_each_losses(state, [&](auto& losses) {
    visit(losses.weight);
    visit(losses.weight_squares);
    visit(losses.squared);
    visit(losses.log);
    visit(losses.seen_weight);
    visit(losses.squared_seen);
    visit(losses.log_seen);
    visit(losses.brier_weight);
    visit(losses.other_squares);
    visit(losses.top1_weight);
    if (format >= kFirstFormatWithTop1Squares) visit(losses.top1_weight_squares);
    visit(losses.top1_error);
  });
}

const std::vector<TrackedShard>& shards_of(const TraversalState& plan) {
  return plan.shard_pass->phase == Phase::kTrain ? plan.data : plan.test;
}

}  // namespace

StoredValidations stored_validations(const RunState& state) {
  const Summary& summary = state.summary;
  return {.options = state.options.validation,
          .state = state.validation,
          .validations = summary.validations,
          .last = summary.last_validation,
          .best = summary.best_validation,
          .stopped_early = summary.stopped_early};
}

void restore_validations(StoredValidations stored, RunState& state) {
  state.options.validation = std::move(stored.options);
  state.validation = stored.state;
  state.summary.validations = stored.validations;
  state.summary.last_validation = stored.last;
  state.summary.best_validation = stored.best;
  state.summary.stopped_early = stored.stopped_early;
}

std::vector<ExactSum::Words> exact_sums(const RunState& state) {
  std::vector<ExactSum::Words> sums;
  for_each_sum(state, kStateFormat, [&](const ExactSum& sum) { sums.push_back(sum.words()); });
  return sums;
}

bool restore_exact_sums(const std::vector<ExactSum::Words>& sums, std::uint32_t format, RunState& state) {
  std::size_t wanted = 0;
  for_each_sum(state, format, [&](const ExactSum&) { ++wanted; });
  if (sums.size() != wanted) return false;
  auto next = sums.begin();
  for_each_sum(state, format, [&](ExactSum& sum) { sum = ExactSum::of_words(*next++); });
  return true;
}

void infer_top1_squares(RunState& state) {
  for_each_losses(state, [](Losses& losses) {
    if (losses.top1_samples == 0 || losses.weight <= 0) return;
    // Unequal weights reduce the effective number of samples as they reduce that of examples.
    const double fewer = losses.weight_squares * static_cast<double>(losses.examples) / losses.weight / losses.weight;
    const double in_unit = losses.top1_weight / kSampleUnit;
    losses.top1_weight_squares = ExactSum(in_unit * in_unit * fewer / static_cast<double>(losses.top1_samples));
  });
}

void infer_other_squares(RunState& state) {
  constexpr double kUnit = 16;  // examples: the unit of sample weights in those formats
  for_each_losses(state, [](Losses& losses) {
    const double squared = losses.mean_squared_seen() * losses.brier_weight;
    losses.other_squares = ExactSum(kUnit * (losses.other_squares - squared));
    losses.brier_weight = ExactSum(kUnit * losses.brier_weight);
  });
}

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
  if (!is_sound(state.progress)) throw Error(Fault::kBadData, name + ": its progress is invalid");
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
