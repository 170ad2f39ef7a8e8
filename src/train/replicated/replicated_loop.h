// One pass on several ranks that each hold every weight: rounds in lock-step, merges at sync points.
//
//   1 read      each rank takes its next batch
//   2 propose   labels that are not in the tree, first occurrence in the batch, go to rank 0, the coordinator
//   3 settle    it path_states them in (rank, position) order, drops repeats, routes each by the rule on its own
//   regressors 4 broadcast the structure changes, which all ranks apply in order 5 train     each rank predicts and
//   learns its batch; all its labels are in the tree
//
// Steps 1 to 4 of the next round run while this round's batch is trained: news travel during its first half, changes
// during its second. So the coordinator's tree is ahead of the others' by at most one round's changes while it trains,
// and equal to theirs whenever a round has ended. The last round of an sync interval is trained alone: what comes after
// it is then a function of the merged weights, the tree and the examples that are left, and nothing else need be kept
// to go on from there.
#pragma once

#include <cstdint>
#include <exception>
#include <memory>
#include <string>
#include <vector>

#include "comm/communicator.h"
#include "cpt/trainer.h"
#include "model/learning/in_order.h"
#include "train/checkpoint/safe_point.h"
#include "train/input/batch_reader.h"
#include "train/partitioned/wire/tree_change_messages.h"
#include "train/progress/progress.h"
#include "train/progress/schedule.h"
#include "train/replicated/count_merger.h"
#include "train/replicated/merge.h"

namespace cpt {

// Reused for all passes of a run, on every rank. An error of one rank (its input, its weights) reaches all of them with
// the next round's news: all throw the same AgreedError.
class ReplicatedLoop {
 public:
  ReplicatedLoop(const TrainingOptions& options, Communicator& comm, Learner& learner, InOrder& in_order,
                 Progress& progress, SyncSchedule& sync_points, SafePoint& safe_point);

  // A rank whose reader is at its end still joins every round, until all are. Returns the bad lines skipped on all
  // ranks.
  std::uint64_t run(BatchReader& reader, bool learning);

 private:
  // What a rank tells all others at the start of a round.
  struct News {
    std::uint64_t examples = 0;  // in its batch
    std::uint64_t fault = 0;     // encode_fault() of what it failed with
    std::uint64_t proposal_bytes = 0;
    std::uint64_t warning_bytes = 0;
    std::uint64_t bad_lines = 0;
    std::uint64_t requests = 0;  // see RequestBits
  };

  // A rank's batch and what it has to say about it.
  struct Round {
    Slice slice;
    std::vector<bool> is_new;  // by position: the example proposed its label
    std::vector<std::byte> proposals;
    std::string warnings;
  };

  Round read(BatchReader& reader, bool learning);
  std::uint64_t round_examples() const;
  void propose(Round& round) const;
  std::vector<News> tell_and_train(const Round& next, std::uint64_t bad_lines, Round& current, bool learning);
  void apply_headers(const std::vector<News>& news, const Round& next);
  void train(const Round& round, std::size_t begin, std::size_t end, bool learning);
  void relay_warnings(const std::vector<News>& news, const Round& next);
  std::vector<TreeChange> settle(const std::vector<News>& news, const Round& next);
  void settle_and_train(const std::vector<News>& news, const Round& next, Round& current, bool learning);
  std::vector<std::vector<std::byte>> gather_known(const std::vector<std::uint64_t>& lengths, ConstBytes mine,
                                                   const char* call);
  void compare_trees();  // in debug builds, after every round
  bool comes_to_rest(std::uint64_t examples, bool learning) const;
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
  SyncSchedule& sync_schedule_;
  SafePoint& safe_point_;
  std::uint64_t requests_ = 0;  // of all ranks
  std::exception_ptr failure_;  // of this rank; it trains no more, but joins until all know
};

}  // namespace cpt
