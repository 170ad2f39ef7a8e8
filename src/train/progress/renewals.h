// Decides when the rarities of features are renewed and when the model is validated, and adds up the counts of all
// ranks at a renewal.
#pragma once

#include <cstdint>
#include <vector>

#include "comm/communicator.h"
#include "model/rarity/feature_counts.h"
#include "train/input/batch_reader.h"

namespace cpt {

// A renewal is due when a number of lines, counted over all shards, was learned. How lines are split into shards, and
// shards over ranks, plays no part. The same holds for a validation, and for the end of the part of an interval in
// which examples are counted. The offset at which one is due follows from how far each shard was read, and is computed
// again if a shard ends before it. Reused for all passes of a run; every rank makes the same calls. Borrows its
// arguments.
class Renewals {
 public:
  static constexpr StreamOffset kNever{BatchReader::kNoPosition, 0};

  Renewals(Communicator& comm, FeatureCounts& counts) : comm_(comm), counts_(counts) {}

  // `lines`: in a resumed pass, the lines of the pass up to the next renewal; else 0. There are no renewals unless
  // `learning`. `validation`: the lines of the pass up to the next validation; 0: there is none.
  void begin_pass(std::uint64_t lines, bool learning, std::uint64_t validation = 0);
  // In the middle of a pass, as if it were resumed here.
  void begin_again() { begin_pass(lines_, true, validation_); }
  // Every rank reads up to here, then calls stop_at(). At first the start of the pass, even of a resumed one.
  const StreamOffset& next() const { return next_; }
  // Collective. All lines before `offset`, which is not before next(), were handed out by the readers of all ranks, and
  // no other. Renews, or begins or ends counting, if these lines are enough, and computes the next offset.
  void stop_at(const StreamOffset& offset, BatchReader& reader);
  // The lines of the pass at the next renewal; 0 if there is none.
  std::uint64_t lines() const { return lines_; }
  // Whether to validate before anything else is read. Until begin_pass() or begin_again().
  bool validation_due() const { return validation_due_; }
  // For replicas: whether a validation is due after this many examples of the pass.
  bool is_validation(std::uint64_t examples_of_pass) const {
    return validation_ != 0 && examples_of_pass >= validation_;
  }
  void stop_for_validation() { validation_due_ = true; }
  // Collective. Renews here if enough examples have come, wherever next() is: for replicas, whose sync points are not
  // at offsets.
  void renew_if_due();
  // Collective. Adds up what all ranks have counted, and renews nothing: every rank can then save the counts.
  void share();
  // Collective. After the last example of a pass: renew_if_due().
  void end_pass();

 private:
  std::uint64_t lines_until_stop(std::uint64_t lines);
  void add_up(const std::vector<CountedFeature>& features);
  void end();

  Communicator& comm_;
  FeatureCounts& counts_;
  std::uint64_t lines_ = 0;
  std::uint64_t validation_ = 0;
  bool validation_due_ = false;
  StreamOffset next_ = kNever;
};

// The offset before which the shards have `lines` more lines from `offset` on, if none of them ends. `positions`: how
// many lines of each shard come before `offset`; those that have fewer than the others have ended. kNever if all have.
StreamOffset offset_after(const StreamOffset& offset, std::uint64_t lines, const std::vector<ShardPosition>& positions);

}  // namespace cpt
