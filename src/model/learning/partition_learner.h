// One partition of the model, as its owner learns it: its blocks and their regressors, up to date with every example
// that has passed. It knows no other partition and no rank. An example led through the partitions on its path does in
// each of them, bit for bit, what it does in a Learner that holds the whole tree.
//
// Labels are known by the ids that the owner of the root partition gave them.
#pragma once

#include <array>
#include <cstdint>
#include <deque>
#include <functional>
#include <span>
#include <utility>
#include <vector>

#include "model/estimators/descent.h"
#include "model/tree/blocks.h"
#include "model/tree/tree.h"
#include "model/weights/regressors.h"

namespace cpt {

// The prediction of one partition for an example.
struct PartitionResult {
  double probability = 1;  // product of the node probabilities on its path here; NaN if the weights are not finite
  std::uint8_t exit = 0;   // 16 .. 31: the path goes on in the partition below this exit; 0: it ends here
};

// Borrows the weights and touches only the partition's own region of them. Not thread-safe.
class PartitionLearner {
 public:
  // Copies the partition's part of `tree`, whose options are `options`.
  PartitionLearner(Partition partition, const Tree& tree, WeightTable& weights, const ModelOptions& options);

  const Blocks& blocks() const { return blocks_; }
  // The hook is called with every path state right before its rows change. None by default.
  void before_training(std::function<void(const PathState&)> hook) { before_training_ = std::move(hook); }
  // The partition below an exit.
  Partition below(std::uint8_t exit) const;

  // Finds the path of a label that the partition knows, and its rows. `positions` is that path in a tree some rounds
  // old, or empty if the label was not in that tree. It leads to where the label is now, because a leaf that splits
  // moves down and left. Throws Error(kFailed) if the path does not lead to the label.
  void locate(const ScaledExample& x, LabelId label, std::span<const std::uint8_t> positions,
              PathState& path_state) const;
  // After locate().
  PartitionResult predict(PathState& path_state) const;
  // Predicts, then trains the nodes on the path. After locate().
  PartitionResult learn(PathState& path_state);

  // A small filter of the labels that may have moved since the tree that all ranks know; false positives are possible.
  // The path of a label that has not moved is in that tree, so it need not be located here: NodeRegressors::extend()
  // can follow it through several partitions at once.
  class MovedLabelFilter {
   public:
    bool holds(LabelId label) const { return (bits_ & bit_of(label)) != 0; }

   private:
    friend PartitionLearner;
    static constexpr std::size_t kBits = 64;  // shared by the labels
    static constexpr std::uint64_t bit_of(LabelId label) { return std::uint64_t{1} << (label % kBits); }

    std::uint64_t bits_ = 0;
  };
  // Changed only by insert(), open() and forget_recent_labels().
  const MovedLabelFilter& moved() const { return moved_; }

  struct InsertResult {
    PartitionResult result;
    // The label whose leaf is split, here or, if result.exit is not 0, in the partition below. kNoLabel: the new label
    // is the first one, or if result.exit is not 0, the partition below chooses the leaf.
    LabelId split = kNoLabel;
  };
  // Inserts a new label by the rule, from the top of the partition down, and trains its path here.
  InsertResult insert(const ScaledExample& x, LabelId label, InsertionState& state);
  // Inserts a new label that splits the leaf of `old`. The node becomes the first one of this partition.
  InsertResult open(const ScaledExample& x, LabelId label, LabelId old);

  struct Drawn {
    std::uint8_t exit = 0;     // below which the draw goes on; 0 at a leaf
    LabelId label = kNoLabel;  // of the leaf
  };
  // Continues a draw at the top of the partition.
  Drawn draw(const ScaledExample& x, DrawState& state) const;

  // The result, in one partition, of a search for the most probable label.
  struct SearchResult {
    LabelId label = kNoLabel;  // the best label whose leaf is here, of equal ones the lowest; kNoLabel: none is as good
                               // as `least`
    double probability = 0;
    struct Exit {
      std::uint8_t exit;
      double probability;  // of reaching it
    };
    std::vector<Exit> exits;  // below which there may be a better label, the most probable exit first
    double least = 0;         // some label, here or elsewhere, has at least this probability
  };
  // `above` is the probability of reaching the partition; `least` is SearchResult::least as of the partitions searched
  // before.
  SearchResult search(const ScaledExample& x, double above, double least) const;

  // To be called when all ranks know the tree with all labels below `first`, so that no caller of locate() or moved()
  // has an older path. Until then the partition remembers new labels, and the labels whose leaves they split.
  void forget_recent_labels(LabelId first);

  // Rows that learn() and insertions have visited, counted once for each example. With the rows that callers of moved()
  // train themselves, this is the load of the partition.
  std::uint64_t rows_visited() const { return rows_visited_; }

 private:
  struct RecentLabel {
    LabelId label;
    LabelId split;  // whose leaf moved because of it; kNoLabel if none did here
    PathStep leaf;  // where its path first ended in this partition
  };

  void copy_blocks(const Tree& tree);
  const RecentLabel* find_recent(LabelId label) const;
  void look_up(std::span<const std::uint8_t> positions, std::vector<PathStep>& path) const;
  PartitionResult result_of(PathState& path_state) const;
  void follow_left(std::vector<PathStep>& path) const;
  void count_moved(LabelId split);
  void discount_moved(LabelId split);
  PartitionResult train_recent(const ScaledExample& x, const RecentLabel& recent);

  Partition partition_;
  std::function<void(const PathState&)> before_training_;
  std::uint64_t rows_visited_ = 0;
  MovedLabelFilter moved_;
  std::array<std::uint32_t, MovedLabelFilter::kBits>
      splits_{};  // by bit of moved_: recent labels that split its labels
  ModelOptions options_;
  Blocks blocks_;
  NodeRegressors regressors_;
  std::deque<RecentLabel> recent_labels_;  // by ascending label
  PathState path_state_;                   // of recent labels
  mutable std::vector<float*> rows_;       // scratch space
};

}  // namespace cpt
