// The partitions that a rank owns, and the visits of examples to them.
#pragma once

#include <array>
#include <cstdint>
#include <functional>
#include <memory>
#include <vector>

#include "model/learner.h"
#include "model/partition_learner.h"
#include "train/ownership.h"
#include "train/visit.h"
#include "train/visit_messages.h"

namespace cpt {

// What comes of visits, for the rank that keeps the books.
struct Finding {
  enum class Kind : std::uint32_t {
    kLevel1,  // value: product of the node probabilities on its label's path in the level-1 partition
    kDeep,    // ... in the deep partition
    kDrawn,   // value: the probability of the label that was drawn
    kFound,   // value: the probability of `label`, the best one of a partition; an example may have many of these
  };
  Finding() = default;
  Finding(std::uint32_t slot_of_example, Kind of_kind, LabelId of_label, double its_value)
      : slot(slot_of_example), label(of_label & ((1U << 30) - 1)), kind(of_kind), value(its_value) {}

  std::uint32_t slot = 0;  // as in Visit
  LabelId label : 30 = 0;
  Kind kind : 2 = Kind::kLevel1;
  double value = 0;
};
static_assert(sizeof(Finding) == 16);

// A structure change that an owner has made: `label` has split the leaf of `split`.
struct Change {
  LabelId label = kNoLabel;
  LabelId split = kNoLabel;
  std::uint32_t disagreements = 0;
};

// Where visits lead: on to other partitions, or to the books.
struct StageResults {
  std::vector<VisitWriter> hops;  // by rank: to the next stage
  std::vector<Finding> findings;
  std::vector<Change> changes;
  struct RootPart {
    std::uint32_t slot;
    double value;
  };
  std::vector<RootPart> root;  // what findings are for the others; on rank 0 only, which keeps the books too
};

// One per rank, for all its partitions. Borrows the learner: its weights, of which it holds the regions of its
// partitions, and its tree only as long as a constructor runs.
class PartitionOwner {
 public:
  PartitionOwner(Learner& learner, const Owners& owners, int rank);

  // Visits in order, all of one stage and to partitions of this rank. `learning` off: they look and change nothing.
  // `idle` is called every now and then, so that messages move on meanwhile. Throws Error(kFailed) if paths are lost.
  void run(const std::vector<Visit>& visits, bool learning, StageResults& results, const std::function<void()>& idle);

  bool owns(Partition partition) const { return partitions_[partition] != nullptr; }
  // When the tree is at rest: takes up the partitions that are its own by `owners`, and drops the others.
  void adopt(const Owners& owners);
  void forget_newcomers(LabelId first);
  // Of own partitions since the last call: see PartitionLearner::lines_visited. 0 elsewhere.
  Loads take_loads();
  // Of memory that the structure of its partitions holds.
  std::uint64_t structure_bytes() const;

 private:
  static constexpr std::size_t kAhead = 12;  // a visit touches few lines, and memory takes as long as for many

  void prepare(const Visit& visit, Walk& walk) const;
  void pass(const Visit& visit, bool learning, Walk& walk, StageResults& results);
  void pass_known(const Visit& visit, bool learning, Walk& walk, StageResults& results);
  void pass_new(const Visit& visit, StageResults& results);
  void pass_draw(const Visit& visit, StageResults& results) const;
  void pass_search(const Visit& visit, StageResults& results) const;
  void send_on(Visit visit, std::uint8_t exit, StageResults& results) const;

  Learner& learner_;
  int rank_;
  Owners owners_{};
  std::array<std::unique_ptr<PartitionLearner>, kPartitions> partitions_;
  Loads reported_{};
  std::array<Walk, kAhead + 1> walks_;
};

// Where the partitions of a visit lie, below the root.
enum class Stage { kLevel1, kDeep };

// Appends the visits of a stage that examples make to partitions of this owner because their origin knew the way.
// `arrivals` in order.
void add_direct_visits(const std::vector<Arrival>& arrivals, Stage stage, const PartitionOwner& owner,
                       std::vector<Visit>& visits);

}  // namespace cpt
