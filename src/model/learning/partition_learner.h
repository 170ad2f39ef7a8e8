// One partition of the model, in the hands of whoever owns it: its blocks and their regressors, up to date with every
// example that has passed it so far. It knows neither the other partitions nor any rank. Led through the partitions on
// its path, an example does there, bit for bit, what it does in a Learner that holds them all.
//
// Labels are known by the numbers that the owner of the root gave them, in the order of leaf_split.
#pragma once

#include <array>
#include <cstdint>
#include <deque>
#include <optional>
#include <span>
#include <vector>

#include "model/tree/blocks.h"
#include "model/tree/tree.h"
#include "model/weights/block_steps.h"
#include "model/weights/node_regressors.h"

namespace cpt {

// What an example comes to in one partition.
struct PartitionResult {
  double probability = 1;  // product of the node probabilities on its path here; NaN if the weights are not finite
  std::uint8_t exit = 0;   // the place 16 .. 31 at which the path goes on in the partition below; 0: it ends here
};

// Borrows the weights, of which it touches its own region only. Not thread-safe.
class PartitionLearner {
 public:
  // The part of `tree` that lies in the partition.
  PartitionLearner(Partition partition, const Tree& tree, WeightTable& weights, const ModelOptions& options);

  const Blocks& blocks() const { return blocks_; }
  // The partition that a path enters by this exit.
  Partition below(std::uint8_t exit) const;

  // Finds the path of a label that the partition knows, and its rows. `places`: where the path left each block here in
  // a tree that is at most some rounds old; empty if that tree did not know the label here. Those places lead to where
  // it goes now, because a leaf that splits moves down and left. Throws Error(kFailed) if the path does not lead to the
  // label.
  void locate(const ExampleView& x, LabelId label, std::span<const std::uint8_t> places, PathState& path_state) const;
  // After locate().
  PartitionResult predict(PathState& path_state) const;
  // The same, and the nodes on the path are trained.
  PartitionResult learn(PathState& path_state);

  // Which labels may have moved since the tree that everyone knows, and a few others. One that has not goes where that
  // tree says, and its path_state through this partition and others in a row, by their Regressors, need not be looked
  // up.
  class MovedLabelFilter {
   public:
    bool holds(LabelId label) const { return (bits_ & bit_of(label)) != 0; }

   private:
    friend PartitionLearner;
    static constexpr std::size_t kBits = 64;  // labels share them
    static constexpr std::uint64_t bit_of(LabelId label) { return std::uint64_t{1} << (label % kBits); }

    std::uint64_t bits_ = 0;
  };
  // Changes with settle(), open() and forget_recent_labels() only.
  const MovedLabelFilter& moved() const { return moved_; }

  // What becomes of a new label.
  struct InsertResult {
    PartitionResult result;
    LabelId split = kNoLabel;  // the label whose leaf it splits: here, or in the partition below if the result goes
                               // on; kNoLabel: it goes on settling there, or it is the first label of all
  };
  // The label `label` goes down by the rule, from the top of the partition, and its path here is trained.
  InsertResult settle(const ExampleView& x, LabelId label, Settling& settling);
  // The same for a label that splits the leaf of `old`, whose node opens this partition.
  InsertResult open(const ExampleView& x, LabelId label, LabelId old);

  // One step of a draw; the exit, or 0 if it has reached a leaf.
  std::uint8_t draw(const ExampleView& x, Drawing& drawing) const;

  // What a search for the label of the highest probability comes to in one partition.
  struct Found {
    LabelId label = kNoLabel;  // the best one whose leaf is here; of equal ones the lowest; kNoLabel: all are worse
    double probability = 0;
    struct Way {
      std::uint8_t exit;
      double probability;  // of reaching it
    };
    std::vector<Way> ways;  // below which there may be a better one, the likeliest first
    double least = 0;       // some label, here or elsewhere, has at least this probability
  };
  // `above`: the probability of reaching the partition. `least` is what is known before: worse labels are not looked
  // for.
  Found search(const ExampleView& x, double above, double least) const;

  // New labels, and those whose leaves they split, are remembered until everyone knows the tree with all labels below
  // `first`: neither locate() nor a path_state about which moved() is asked will come with the places of an older one.
  void forget_recent_labels(LabelId first);

  // Rows that learn() and newcomers have visited, each example times each row counted. With those of path_states that
  // were led by their Regressors, which count where they are led, the load of the partition.
  std::uint64_t rows_visited() const { return rows_visited_; }

 private:
  struct RecentLabel {
    LabelId label;
    LabelId split;   // whose leaf moved because of it; kNoLabel if none did here
    PathStep place;  // at which it first left the partition
  };

  void adopt(const Tree& tree);
  const RecentLabel* find_newcomer(LabelId label) const;
  void climb(PathStep from, std::vector<PathStep>& path) const;
  void look_up(std::span<const std::uint8_t> places, std::vector<PathStep>& path) const;
  void follow_left(std::vector<PathStep>& path) const;
  Child child_at_end(const PathState& path_state) const;
  void count_moved(LabelId split);
  void discount_moved(LabelId split);
  PartitionResult train_newcomer(const ExampleView& x, const RecentLabel& newcomer);

  Partition partition_;
  std::uint64_t rows_visited_ = 0;
  MovedLabelFilter moved_;
  std::array<std::uint32_t, MovedLabelFilter::kBits>
      splits_{};  // by bit of moved_: newcomers that split a leaf of its labels
  ModelOptions options_;
  Blocks blocks_;
  Regressors regressors_;
  std::deque<RecentLabel> recent_labels_;  // by ascending label
  PathState path_state_;                   // of newcomers
  mutable std::vector<float*> rows_;       // scratch
};

}  // namespace cpt
