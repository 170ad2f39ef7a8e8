// One pass on several ranks that each hold all weights: rounds in lock-step, merges at sync points.
//
//   1 read          each rank takes its next batch
//   2 propose       each rank sends labels that are not in the tree, by first occurrence in its batch, to rank 0
//   3 choose splits rank 0 takes the proposals in (rank, position) order, drops repeats, and inserts each label by the
//                   rule on its own regressors
//   4 broadcast     all ranks apply the structure changes in order
//   5 train         each rank predicts and learns its batch; all its labels are in the tree
//
// Steps 1 to 4 of the next round overlap with the training of this round's batch: headers travel during its first half,
// changes during its second half. So rank 0's tree is ahead of the others' by at most one round's changes while it
// trains, and equal whenever a round has ended. The last round of a sync interval is trained alone: what comes after it
// is then a function of the merged weights, the tree and the remaining examples, which is all that a checkpoint holds.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "comm/communicator.h"
#include "core/deferred_error.h"
#include "cpt/trainer.h"
#include "model/learning/in_order.h"
#include "train/checkpoint/safe_point.h"
#include "train/input/batch_reader.h"
#include "train/merge/calibrator_merge.h"
#include "train/merge/count_merge.h"
#include "train/merge/weight_merge.h"
#include "train/messages/tree_change_messages.h"
#include "train/progress/progress.h"
#include "train/progress/renewals.h"
#include "train/progress/schedule.h"

namespace cpt {

// Reused for all passes of a run, on every rank. An error of one rank (its input, its weights) reaches all ranks with
// the next exchange: all throw the same AgreedError.
class ReplicatedLoop {
 public:
  ReplicatedLoop(const TrainingOptions& options, Communicator& comm, Learner& learner, InOrder& in_order,
                 Progress& progress, SyncSchedule& sync_points, Renewals& renewals, SafePoint& safe_point);

  // A rank at the end of its input takes part in every round until all are. Returns at the end of the input; or, with
  // merged weights, after the round in which a validation is due, and is then to be called again. Returns the number of
  // bad lines skipped by all ranks. `examples_before`: of the phase, before this pass.
  std::uint64_t run(BatchReader& reader, bool learning, std::uint64_t examples_before);

 private:
  // A rank sends it to all others at the start of a round.
  struct RoundHeader {
    std::uint64_t examples = 0;  // in its batch
    std::uint64_t fault = 0;     // encode_fault() of its error
    std::uint64_t proposal_bytes = 0;
    std::uint64_t warning_bytes = 0;
    std::uint64_t bad_lines = 0;
    std::uint64_t requests = 0;  // see RequestBits
    std::uint64_t rows_to_merge = 0;
    std::uint64_t rows_trained = 0;  // since the last merge
  };
  using RoundHeaders = std::vector<RoundHeader>;  // by rank

  // A rank's batch, with the proposals and warnings that belong to it.
  struct Round {
    Slice slice;
    std::vector<bool> is_new;  // by position: the example's label is proposed
    std::vector<std::byte> proposals;
    std::string warnings;
  };

  Round read(BatchReader& reader, bool learning);
  std::uint64_t round_examples() const;
  void propose(Round& round) const;
  RoundHeaders exchange_headers(const Round& next, std::uint64_t bad_lines, Round& current, bool learning);
  void apply_headers(const RoundHeaders& headers, const Round& next);
  void train(const Round& round, std::size_t begin, std::size_t end, bool learning);
  void relay_warnings(const RoundHeaders& headers, const Round& next);
  void add_labels(const RoundHeaders& headers, const Round& next, Round& current, bool learning);
  std::vector<std::byte> choose_splits(const std::vector<std::vector<std::byte>>& proposals_of_ranks);
  std::vector<std::vector<std::byte>> gather_at_rank_0(const RoundHeaders& headers, std::uint64_t RoundHeader::*length,
                                                       ConstBytes mine, const char* call);
  void compare_trees();  // in debug builds, after every round
  bool drains_after(std::uint64_t examples, bool learning) const;
  bool ends_before_validation(std::uint64_t examples) const;
  void end_round(std::uint64_t examples, bool learning, bool ends_interval, const BatchReader& reader);
  void pause(const BatchReader& reader);
  void end_interval();

  const TrainingOptions& options_;
  Communicator& comm_;
  Learner& learner_;
  InOrder& in_order_;
  Progress& progress_;
  WeightMerger merger_;
  CountMerger count_merger_;
  CalibratorMerger calibrator_merger_;
  SyncSchedule& sync_schedule_;
  Renewals& renewals_;
  SafePoint& safe_point_;
  std::uint64_t examples_before_ = 0;  // of the phase, before this pass
  std::uint64_t bad_lines_ = 0;        // of the pass, on all ranks
  std::uint64_t requests_ = 0;         // of all ranks
  bool stretch_ends_ = false;          // a stretch ends: report it after this round
  DeferredError failure_;              // of this rank, which then trains no more and takes part until all know
};

}  // namespace cpt
