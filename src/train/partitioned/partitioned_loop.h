// One pass on several ranks that each own a part of the model. All examples have one global order, and every partition
// sees those on its path in this order: the result is that of one rank, bit for bit. The length of rounds and the
// number of ranks change speed only. See wire/messages.h for the steps of a round.
//
// The tree by which a rank routes examples is some rounds old. That changes only how an example reaches an owner.
//
// Hybrid placement differs in the top blocks only: every rank has a copy of them, takes the examples that it has read
// through its copy, in its own order, and sends them straight to the owners below. At sync points, when no round is in
// progress, the ranks merge their copies. The result is then a function of the number of ranks and of the length of
// rounds, which depend on nothing that may differ from run to run; so partitions move at sync points only. Whatever a
// sync point leaves behind is in a checkpoint or forgotten, so that a resumed run goes on as this one does (C7).
#pragma once

#include <array>
#include <cstdint>
#include <deque>
#include <exception>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "comm/agreement.h"
#include "comm/communicator.h"
#include "cpt/trainer.h"
#include "train/checkpoint/safe_point.h"
#include "train/input/batch_reader.h"
#include "train/merge/calibrator_merge.h"
#include "train/merge/weight_merge.h"
#include "train/partitioned/coordinator.h"
#include "train/partitioned/dispatcher.h"
#include "train/partitioned/partition_owner.h"
#include "train/partitioned/round.h"
#include "train/partitioned/tree_replicator.h"
#include "train/partitioned/wire/shared_example_ring.h"
#include "train/placement/balancer.h"
#include "train/progress/progress.h"
#include "train/progress/renewals.h"
#include "train/progress/schedule.h"

namespace cpt {

// Reused for all passes of a run, on every rank. An error of one rank reaches all of them with its header of the next
// round: all throw the same AgreedError.
class PartitionedLoop {
 public:
  // The learner has the same trees on all ranks, and the weights of this rank's partitions by first_owners(). Borrows
  // all of them.
  PartitionedLoop(const TrainingOptions& options, Communicator& comm, Learner& learner, Progress& progress,
                  SyncSchedule& sync_points, Renewals& renewals, SafePoint& safe_point);

  // Returns at the end of the input, or where renewals say that a validation is due, to be called again afterwards. A
  // rank whose reader is at its end still joins every round, until all are. `shards`: of all ranks. Readers may begin
  // in the middle of their shards. When this returns, and at every safe point, the trees are complete and equal on all
  // ranks. Returns the bad lines skipped on all ranks.
  std::uint64_t run(BatchReader& reader, std::uint64_t shards, bool learning);

  const Owners& owners() const { return balancer_.owners(); }
  // Of the last sync interval whose loads were compared; nothing before.
  const std::optional<Balance>& latest_balance() const { return balance_; }
  std::uint64_t partitions_moved() const { return partitions_moved_; }
  std::uint64_t structure_bytes() const { return owner_.structure_bytes(); }

 private:
  // partitioned_loop.cpp: the pipeline.
  void step(BatchReader* reader);
  void run_next_stage(Round& round);
  void read(BatchReader& reader);
  IntervalRows rows_of_copies() const;
  std::uint64_t round_positions() const;
  void balance();
  bool is_to_stop() const;
  bool is_at_validation(BatchReader& reader);
  void stop_at_safe_point(BatchReader& reader);
  void change_owners();
  void merge_copies();
  void begin_rounds(BatchReader& reader);
  void drain();

  // stages.cpp: what a round does in a step.
  void pass_root(Round& round);
  void pass_level1(Round& round);
  void pass_deep(Round& round);
  void close(Round& round);
  void gather_examples(Round& round, const std::vector<RoundHeader>& headers);
  void open(Round& round, const std::vector<RoundHeader>& headers);
  void run_stage(Round& round, const RankMessages& hops, Stage stage);
  void run_tasks(const std::vector<PartitionTask>& tasks, Round& round);
  void start_hops(Round& round, RankMessages& messages, const std::vector<int>& from);
  void read_results(Round& round) const;
  void count_until(Round& round, std::span<const Split>& splits, const ReportPoint& point);
  void take_loads(Round& round, Stage stage);

  // round_errors.cpp: what its headers say, above all the failures of other ranks.
  void guarded(Round& round, const std::function<void()>& work);
  void timed(Round& round, Stage stage, const std::function<void()>& work);
  std::vector<RoundHeader> read_headers(const Round& round) const;
  void relay_warnings(const Round& round, const std::vector<RoundHeader>& headers);
  void apply_headers(Round& round, const std::vector<RoundHeader>& headers);
  void count_interval(Round& round, std::uint64_t examples);
  [[noreturn]] void abort_pass(const AgreedError* reason);

  const TrainingOptions& options_;
  Communicator& comm_;
  Learner& learner_;
  Progress& progress_;
  const std::vector<int> all_ranks_;
  const Roots roots_;
  Balancer balancer_;
  const std::vector<int> root_ranks_;  // that own roots or have copies of them, ascending; rank 0 is the first
  PartitionOwner owner_;
  Dispatcher dispatcher_;
  Coordinator coordinator_;  // of use on the owners of roots only
  SyncSchedule& sync_schedule_;
  Renewals& renewals_;
  SafePoint& safe_point_;
  TreeReplicator tree_replicator_;
  struct Mergers {
    WeightMerger weights;
    CalibratorMerger calibrators;
    std::uint64_t rows_at_last_merge = 0;  // PartitionOwner::rows_below_copies() then
  };
  std::optional<Mergers> mergers_;  // of the copies

  std::optional<SharedExampleRing> ring_;      // from the first pass on
  int ranks_per_core_ = 1;                     // likewise
  std::deque<std::unique_ptr<Round>> rounds_;  // in progress, oldest first
  std::vector<std::unique_ptr<Round>> spare_;  // for their memory
  std::vector<PartitionTask> tasks_;           // of the current stage
  std::vector<PartitionTask> task_scratch_;
  std::vector<RoutedExample> example_scratch_;
  StreamOffset offset_;              // of the next round
  std::uint64_t shards_ = 0;         // of the pass
  std::uint64_t active_shards_ = 0;  // by the latest headers
  RoundContents latest_contents_;    // of the latest round whose headers all ranks have
  std::uint64_t rounds_in_interval_ = 0;
  std::array<BusyTime, 3> busy_;           // by stage
  std::optional<IntervalLoads> interval_;  // the sync interval that all stages have ended in this step
  std::uint64_t bad_lines_ = 0;            // of the pass, on all ranks
  std::optional<Balance> balance_;
  std::uint64_t partitions_moved_ = 0;
  std::uint64_t requests_ = 0;    // of all ranks, not granted yet; see is_to_stop()
  std::exception_ptr failure_;    // of this rank
  std::exception_ptr transport_;  // of the communicator, noticed while this rank ran tasks
  double part_read_ = 0;          // of the pass, by the rank that is furthest behind
  bool learning_ = true;
  bool all_read_ = false;
  bool stretch_ends_ = false;  // a stretch ends: report it after this step
  bool moving_ = false;        // partitions are to change owners
  bool merging_ = false;       // copies are to be merged
  bool tainted_ = false;       // some rank has failed: this one computes no more, but joins until all know
};

}  // namespace cpt
