// The partitions that a rank owns, and the tasks of examples to them.
#pragma once

#include <array>
#include <cstdint>
#include <functional>
#include <memory>
#include <vector>

#include "model/learning/learner.h"
#include "model/learning/partition_learner.h"
#include "model/learning/prefetchers.h"
#include "train/partitioned/wire/messages.h"
#include "train/placement/ownership.h"

namespace cpt {

// The results of the tasks of a round: tasks for partitions of other ranks, results for the ledgers, splits for rank 0.
struct StageResults {
  explicit StageResults(std::size_t ranks) : partials(ranks), numbered(ranks) {}
  void clear();

  std::vector<TaskWriter> hops;                      // by rank: to the next stage
  std::vector<std::vector<PartialResult>> partials;  // by the rank that has read the example
  std::vector<std::vector<Numbered>> numbered;       // likewise
  std::vector<Split> splits;
};

// One per rank, for all its partitions; it owns the partitions of roots, too, where every rank has a copy of them.
// Borrows the learner: it uses the weights of its partitions, and reads the trees only in its constructor, in adopt()
// and in refresh_copies().
class PartitionOwner {
 public:
  PartitionOwner(Learner& learner, const Owners& owners, int rank, Roots roots = Roots::kOwned);

  // Runs tasks, in order, that begin a stage at a partition of this rank; each continues through the partitions below
  // that this rank also owns. Without `learning` nothing changes. Calls `idle` now and then, so that messages make
  // progress. Throws Error(kFailed) if the path of a label that may have moved is lost.
  void run(const std::vector<PartitionTask>& tasks, bool learning, StageResults& results,
           const std::function<void()>& idle);

  bool owns(Partition partition) const { return partition < partitions_.size() && partitions_[partition] != nullptr; }
  // By tree: whether this rank owns its root, not just a copy. Never changes.
  std::vector<bool> leads() const;
  // The hook is called with every path state right before the rows of a copy change, its owner's included.
  void before_copies_change(std::function<void(const PathState&)> hook);
  // Brings copies up to date with the trees, which have grown.
  void refresh_copies();
  // Whether tasks of this stage begin at a partition: this rank owns it, and another rank owns the one above.
  bool begins(Stage stage, Partition partition) const {
    return owns(partition) && begins_[static_cast<std::size_t>(stage)][partition];
  }
  // Whether they begin at any partition.
  bool begins_any(Stage stage) const { return begins_any_[static_cast<std::size_t>(stage)]; }
  // Between rounds, after TreeReplicator::drain(): takes over the partitions that `owners` gives this rank, and drops
  // the others.
  void adopt(const Owners& owners);
  void forget_recent_labels(LabelId first);
  // Adds the load of this rank's partitions of a stage since the last call, or since adopt(): the rows visited while
  // learning, counted once per example. If it is called for every stage after the same round, the loads cover the same
  // rounds.
  void take_loads(Stage stage, Loads& loads);
  // The row updates, in the copies of this rank and in all partitions below them, of the examples that the copies have
  // learned, without those of new labels.
  std::uint64_t rows_below_copies() const { return rows_below_copies_; }
  // Memory that holds the structure of this rank's partitions.
  std::uint64_t structure_bytes() const;

 private:
  // The partitions of this rank that a task is known to pass when it is prepared.
  struct PartitionRoute {
    PathState path_state;
    struct Part {
      Partition partition = kRootPartition;
      std::size_t hops = 0;
    };
    std::array<Part, 3> parts;
    std::size_t count = 0;  // 0: the path is not known
  };

  std::uint64_t rows_visited(Partition partition) const;
  void read_example(const PartitionTask& task, ScaledValues& room, ScaledExample& x) const;
  void prepare(const PartitionTask& task, PartitionRoute& route) const;
  void find_route(const PartitionTask& task, PartitionRoute& route) const;
  bool is_current(const PartitionRoute& route) const;
  void pass(const PartitionTask& task, PartitionRoute& route, StageResults& results);
  void pass_all(const PartitionTask& task, PartitionRoute& route, StageResults& results);
  void pass_known(PartitionTask task, StageResults& results);
  void pass_new(const PartitionTask& task, StageResults& results);
  void pass_draw(const PartitionTask& task, StageResults& results);
  void pass_search(const PartitionTask& task, StageResults& results);
  void search_here(const ScaledExample& x, const PartitionTask& task, StageResults& results);
  bool has_copy(Partition partition) const { return roots_ == Roots::kOnEveryRank && partition_level(partition) == 0; }
  // Whether a task passes from one partition to the one below in the same stage.
  bool stays_in_stage(Partition above, Partition below) const { return owns(above) && owns(below) && !has_copy(above); }
  std::unique_ptr<PartitionLearner> make_learner(Partition partition) const;
  void count_rows(const PartitionTask& task, std::size_t features);
  void add_part(const PartitionTask& task, Partition partition, double probability, StageResults& results) const;
  std::uint32_t part_of(const PartitionTask& task) const {
    return part_number(task.slot, tree_of(task.partition), learner_.trees().size());
  }
  void pass_below(PartitionTask task, std::uint8_t exit, StageResults& results);
  void send(const PartitionTask& task, StageResults& results) const;

  Learner& learner_;
  NodeRegressors regressors_;
  int rank_;
  Roots roots_;
  std::function<void(const PathState&)> before_copies_change_;
  Owners owners_;
  Stages stages_;
  std::array<std::vector<bool>, 3> begins_;  // by stage and partition
  std::array<bool, 3> begins_any_{};
  std::vector<std::unique_ptr<PartitionLearner>> partitions_;
  // The fields of the partitions that every task touches, close together: reading them in the learners, which are
  // spread over memory, took a third of the time of finding a route.
  struct Front {
    BlockHeader top;
    PartitionLearner::MovedLabelFilter moved;  // as its learner's
    std::uint64_t rows = 0;                    // visited to learn without its learner
  };
  std::vector<Front> fronts_;
  Loads reported_;
  std::uint64_t rows_below_copies_ = 0;
  bool learning_ = true;  // in the current run()
  // Of the example that was searched last.
  struct Search {
    std::uint64_t order = ~std::uint64_t{0};
    double least = 0;                      // PartitionLearner::SearchResult::least so far
    std::vector<PartitionTask> elsewhere;  // for other ranks, until this one has searched all of its partitions
  };
  Search search_;
  PathPrefetcher<PartitionRoute, 4> ahead_;  // twice as many as for whole paths: tasks often cover a part of one
  PartitionRoute unknown_;                   // of tasks that are not prepared
  PathState path_state_;                     // of those through one partition
  ScaledValues room_;                        // of their examples
};

// Appends the tasks that begin with a stage because the rank that read the examples knew their paths. `examples` in
// order.
void add_direct_tasks(const std::vector<RoutedExample>& examples, Stage stage, const PartitionOwner& owner,
                      std::vector<PartitionTask>& tasks);

}  // namespace cpt
