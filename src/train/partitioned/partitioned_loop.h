// One pass on several ranks that each own a part of the model. All examples have one global order, every partition sees
// those on its way in this order, and so the result is that of one rank, bit for bit; the length of rounds and the
// number of ranks change speed only.
//
// A round takes five steps, which those of the rounds before and after it overlap. Each step starts what a later one
// waits for:
//   read     each rank reads its part of the round, and sends each example to the owners on its way
//   root     rank 0 leads the examples through the root, in order; those whose way nobody knew go on as tasks
//   level 1  the next owners on their way lead them through theirs: level-1 partitions, or deep ones below rank 0's
//   deep     and the last ones through theirs; what the examples came to goes to rank 0
//            (partitions in a row of one owner are passed in one step, the first one's: see Stage)
//   close    rank 0 counts the losses in order, and numbers the structure changes, which all hear of with the root's
//            tasks of a later round
// A rank that reads round m is in step m, say, and has ended step m - 1, where it waited for what all ranks read in
// step m - 2. So all have ended step m - 3, and with it the deep stage of round m - 6, the last in which anybody looks
// at an example: what SharedExampleRing keeps of round m - 6 makes room for round m. Where nothing is read any more,
// the partials of the last round wait for what all ranks sent in the step before, and before anything is read again all
// meet.
//
// The tree by which a rank sends examples is some rounds old. That changes only how an example comes to an owner.
#pragma once

#include <array>
#include <cstdint>
#include <deque>
#include <exception>
#include <memory>
#include <optional>
#include <vector>

#include "comm/agreement.h"
#include "comm/communicator.h"
#include "cpt/trainer.h"
#include "train/checkpoint/safe_point.h"
#include "train/input/batch_reader.h"
#include "train/partitioned/coordinator.h"
#include "train/partitioned/dispatcher.h"
#include "train/partitioned/example/shared_example_ring.h"
#include "train/partitioned/partition_owner.h"
#include "train/partitioned/round.h"
#include "train/partitioned/tree_replicator.h"
#include "train/placement/balancer.h"
#include "train/progress/busy_time.h"
#include "train/progress/progress.h"
#include "train/progress/schedule.h"

namespace cpt {

// Reused for all passes of a run, on every rank. An error of one rank reaches all of them with its news of the next
// round: all throw the same AgreedError.
class PartitionedLoop {
 public:
  // The learner has the same tree on all ranks, and the weights of the partitions that are this rank's by
  // first_owners(). Borrows all of them.
  PartitionedLoop(const TrainingOptions& options, Communicator& comm, Learner& learner, Progress& progress,
                  SyncSchedule& sync_points, SafePoint& safe_point);

  // A rank whose reader is at its end still joins every round, until all are. `shards`: of all ranks. Feeds may begin
  // in the middle of their shards. When it returns, and whenever it safe_point, the tree is at rest: whole, and equal
  // on all ranks. Returns the bad lines skipped on all ranks.
  std::uint64_t run(BatchReader& reader, std::uint64_t shards, bool learning);

  const Owners& owners() const { return balancer_.owners(); }
  // Of the last sync interval whose loads were compared; nothing before.
  const std::optional<Balance>& latest_balance() const { return balance_; }
  std::uint64_t partitions_moved() const { return partitions_moved_; }
  std::uint64_t structure_bytes() const { return owner_.structure_bytes(); }

 private:
  void step(BatchReader* reader);
  void read(BatchReader& reader);
  void pass_root(Round& round);
  void pass_level1(Round& round);
  void pass_deep(Round& round);
  void close(Round& round);

  std::uint64_t round_positions() const;
  std::vector<RoundHeader> read_headers(const Round& round) const;
  void apply_headers(Round& round, const std::vector<RoundHeader>& news);
  void relay_warnings(const Round& round, const std::vector<RoundHeader>& news);
  void gather_examples(Round& round, const std::vector<RoundHeader>& news);
  void run_stage(Round& round, const RankMessages& hops, Stage stage);
  void start_hops(Round& round, RankMessages& mail, const std::vector<int>& from);
  void read_partials(Round& round) const;
  void take_loads(Round& round, Stage stage);
  void balance();
  void rest(const BatchReader& reader);
  void change_owners();
  void drain();
  [[noreturn]] void abort_pass(const AgreedError* reason);
  void run_tasks(const std::vector<PartitionTask>& tasks, Round& round);
  template <class Work>
  void guarded(Round& round, Work work);
  template <class Work>
  void timed(Round& round, Stage stage, Work work);

  const TrainingOptions& options_;
  Communicator& comm_;
  Learner& learner_;
  Progress& progress_;
  const std::vector<int> all_ranks_;
  Balancer balancer_;
  PartitionOwner owner_;
  Dispatcher dispatcher_;
  Coordinator coordinator_;  // of use on rank 0 only
  SyncSchedule& sync_schedule_;
  SafePoint& safe_point_;
  TreeReplicator tree_replicator_;

  std::optional<SharedExampleRing> shelf_;     // from the first pass on
  int ranks_per_core_ = 1;                     // likewise
  std::deque<std::unique_ptr<Round>> rounds_;  // under way, oldest first
  std::vector<std::unique_ptr<Round>> spare_;  // for their memory
  std::vector<PartitionTask> tasks_;           // of the stage at hand
  std::vector<PartitionTask> visit_scratch_;
  std::vector<RoutedExample> arrival_scratch_;
  std::uint64_t position_ = 0;       // in its shards, of the next round
  std::uint64_t active_shards_ = 0;  // by the last news
  RoundContents latest_contents_;    // of the latest round that all ranks have heard of
  std::uint64_t rounds_in_interval_ = 0;
  std::array<BusyTime, 3> busy_;           // by stage
  std::optional<IntervalLoads> interval_;  // that all stages have come to the end of in this step
  std::uint64_t bad_lines_ = 0;            // of the pass, on all ranks
  std::optional<Balance> balance_;
  std::uint64_t partitions_moved_ = 0;
  std::uint64_t requests_ = 0;    // of all ranks; for them, and to move, nothing is read until no round is under way
  std::exception_ptr failure_;    // of this rank
  std::exception_ptr transport_;  // of the messages of others, met while it had other things to do
  bool learning_ = true;
  bool all_read_ = false;
  bool moving_ = false;   // partitions are to change owners
  bool tainted_ = false;  // this rank or another has failed: it computes no more, but joins until all know
};

}  // namespace cpt
