// How cereal stores the state of a run. The order of members is the format; kStateFormat is its number.
#pragma once

#include <cereal/types/array.hpp>
#include <cereal/types/optional.hpp>
#include <cereal/types/vector.hpp>
#include <cmath>
#include <limits>
#include <utility>
#include <vector>

#include "api/blobs/learner_blobs.h"
#include "api/checkpoint/run_state.h"

namespace cpt {

// The format that is written. Formats 2 to 7 are read too (C9): next_renewal is not in 2, the exact sums of losses in
// neither 2 nor 3, validations not before 5, top1_weight_squares not before 6, columns not before 8; and those before 7
// have sums of Brier scores where 7 has other_squares.
inline constexpr std::uint32_t kStateFormat = 8;
inline constexpr std::uint32_t kFirstFormatWithRenewal = 3;
inline constexpr std::uint32_t kFirstFormatWithSums = 4;
inline constexpr std::uint32_t kFirstFormatWithValidations = 5;
inline constexpr std::uint32_t kFirstFormatWithTop1Squares = 6;
inline constexpr std::uint32_t kFirstFormatWithOtherSquares = 7;
inline constexpr std::uint32_t kFirstFormatWithColumns = 8;
inline constexpr std::uint32_t kOldestStateFormat = 2;

template <class Archive>
void serialize(Archive& archive, TrainingOptions& o) {
  archive(o.model, o.init, o.data, o.test, o.test_frozen);
  archive_choice(archive, o.format, format_names());
  archive_choice(archive, o.multilabel, multilabel_names());
  archive(o.passes);
  archive_choice(archive, o.placement, placement_names());
  archive_choice(archive, o.merge, merge_names());
  archive(o.sync_fraction, o.sync_examples, o.round_examples, o.skip_bad_lines, o.most_bad_lines);
  if (o.model.tree == TreeKind::kGiven) archive(o.given_tree);
  archive(o.split);
}

// Rounded; see exact_sums().
template <class Archive>
void serialize(Archive& archive, ExactSum& sum) {
  auto rounded = static_cast<double>(sum);
  archive(rounded);
  if constexpr (Archive::is_loading::value) sum = ExactSum(rounded);
}

template <class Archive>
void serialize(Archive& archive, Losses& l) {
  archive(l.examples, l.new_labels, l.brier_samples, l.top1_samples, l.weight, l.weight_squares, l.squared, l.log,
          l.seen_weight, l.squared_seen, l.log_seen, l.brier_weight, l.other_squares, l.top1_weight, l.top1_error);
}

template <class Archive>
void serialize(Archive& archive, Shard& shard) {
  archive(shard.path, shard.bytes, shard.regular, shard.part.index, shard.part.count);
}

template <class Archive>
void serialize(Archive& archive, Cursor& cursor) {
  archive(cursor.bytes, cursor.line, cursor.position, cursor.examples, cursor.bad_lines, cursor.features);
}

template <class Archive>
void serialize(Archive& archive, TrackedShard& known) {
  archive(known.shard, known.head, known.traversals, known.cursor);
}

template <class Archive>
void serialize(Archive& archive, ShardPass& shard_pass) {
  archive_choice(archive, shard_pass.phase, Phase::kTest);
  archive(shard_pass.pass, shard_pass.shards, shard_pass.examples_before);
}

template <class Archive>
void serialize(Archive& archive, TraversalState& plan) {
  archive(plan.data, plan.test, plan.shard_pass);
}

template <class Archive>
void serialize(Archive& archive, ProgressState& p) {
  archive_choice(archive, p.phase, Phase::kTest);
  archive(p.pass, p.examples, p.next_report, p.losses, p.last_report, p.rounds, p.sync_points, p.seconds);
}

template <class Archive>
void serialize(Archive& archive, SyncCounts& counts) {
  archive(counts.in_interval, counts.all);
}

// Only the members that cannot be measured at the end of the run.
template <class Archive>
void serialize(Archive& archive, Summary& s) {
  archive(s.train, s.test, s.trained, s.tested, s.train_error_lines, s.test_error_lines);
}

template <class Archive>
void serialize(Archive& archive, RunState& state) {
  archive(state.options, state.init_digest, state.plan, state.progress, state.sync_points, state.summary,
          state.finished, state.ranks);
}

template <class Archive>
void serialize(Archive& archive, ValidationOptions& o) {
  bool keeps_best = o.keep_best.has_value();
  Metric metric = o.metric();
  archive(o.data, o.every, o.early_stop, keeps_best);
  archive_choice(archive, metric, metric_names());
  if constexpr (Archive::is_loading::value) o.keep_best = keeps_best ? std::optional(metric) : std::nullopt;
}

// Stored in place of NaN, which no archive holds: the examples had no sample of the metric.
inline constexpr double kNoValue = std::numeric_limits<double>::max();

template <class Archive>
void serialize(Archive& archive, Validation& v) {
  double value = std::isnan(v.value) ? kNoValue : v.value;
  archive(v.pass, v.examples, v.losses, value, v.without_improvement, v.run_seconds, v.seconds);
  if constexpr (Archive::is_loading::value) {
    v.value = value == kNoValue ? std::numeric_limits<double>::quiet_NaN() : value;
  }
}

template <class Archive>
void serialize(Archive& archive, ValidationState& v) {
  archive(v.next, v.model, v.data);
}

// All of the state about validations.
struct StoredValidations {
  ValidationOptions options;
  ValidationState state;
  std::uint64_t validations = 0;
  std::optional<Validation> last;
  std::optional<Validation> best;
  bool stopped_early = false;

  template <class Archive>
  void serialize(Archive& archive) {
    archive(options, state, validations, last, best, stopped_early);
  }
};
StoredValidations stored_validations(const RunState& state);
void restore_validations(StoredValidations stored, RunState& state);

// The sums of all losses of the state, in the order of its members: that of the progress, then those of the summary.
std::vector<ExactSum::Words> exact_sums(const RunState& state);
// Restores the sums that `format` has. Returns false if their number is wrong.
bool restore_exact_sums(const std::vector<ExactSum::Words>& sums, std::uint32_t format, RunState& state);
// For formats without them: assumes that all samples stand for the same number of examples.
void infer_top1_squares(RunState& state);
// For formats without them, whose Brier scores were read in their place: each of the losses keeps its mean Brier score.
void infer_other_squares(RunState& state);

// The content of the blob `state`.
inline auto stored_state(const RunState& state) {
  return std::pair(kStateFormat, std::pair(state, std::pair(std::pair(state.next_renewal, stored_validations(state)),
                                                            std::pair(exact_sums(state), state.options.columns))));
}

}  // namespace cpt
