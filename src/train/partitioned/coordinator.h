// Numbers the examples and the new labels of a round, on the owner of a root. On rank 0 it also inserts new labels into
// the trees, and collects these changes for the other ranks.
#pragma once

#include <cstdint>
#include <deque>
#include <optional>
#include <span>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

#include "model/learning/learner.h"
#include "train/partitioned/partition_owner.h"
#include "train/partitioned/wire/messages.h"

namespace cpt {

// One on each rank that owns a root: all number the same examples, and so give new labels the same ids. Where every
// rank has copies of the roots, every rank has a coordinator: it opens the examples that its rank has read, with
// numbers of its own, and if the rank owns a root, also the examples whose label the reading rank did not know. Works
// on the learner whose trees are copied to all ranks.
class Coordinator {
 public:
  // `leads`: by tree, whether this rank owns its root. `copies_of`: this rank, if every rank has copies of the roots.
  Coordinator(Learner& learner, std::vector<bool> leads, std::optional<ReaderRank> copies_of = std::nullopt)
      : learner_(learner), leads_(std::move(leads)), copies_of_(copies_of) {}

  // Before the first round of a pass. `numbered`: examples of the phase so far, of this rank where it has copies.
  void begin_pass(std::uint64_t numbered) { numbered_ = numbered; }

  // The other results of open().
  struct Opened {
    std::vector<PartitionTask> tasks;  // at the roots of this rank
    std::uint64_t labels = 0;          // that have a number after the round
    std::vector<ReportPoint> reports;  // only from the owner of the first root, rank 0
  };
  // Numbers the examples of a round. Where it is learned, unknown labels become new ones. `examples` in order: all of
  // them for each root of this rank, and some for other trees; counts[r] of them were read by rank r. The owner of the
  // first root appends to numbered[r] the results that rank r needs for the examples that it read. Throws a protocol
  // error on slots or labels that do not exist, and if an example is missing.
  Opened open(const std::vector<RoutedExample>& examples, std::span<const std::uint64_t> counts, bool learning,
              std::vector<std::vector<Numbered>>& numbered);

  // On rank 0: inserts new labels into the trees until there are `labels` of them. Takes their splits, sorted by
  // sort_splits(), off the front. Throws a protocol error unless they are those of the new labels.
  void insert(std::span<const Split>& splits, std::uint64_t labels);

  // Changes that joined the trees since the last call, for the others to apply in the same order.
  std::vector<TreeChange> take_changes();

 private:
  // The current example, the same for all its trees.
  struct Current {
    std::uint64_t order = 0;
    std::uint64_t number = 0;  // 0 where it has none, and is not sampled
    LabelId label = kNoLabel;  // kNoLabel: unknown to a tree that does not learn
    bool is_new = false;
    bool is_sampled = false;
  };

  void forget_joined();
  std::uint64_t labels() const;
  LabelId find(const RoutedExample& example) const;
  LabelId add(std::string_view name);
  bool opens(const RoutedExample& example) const;
  void number(const RoutedExample& example, bool learning);
  void announce(const RoutedExample& example, Opened& opened, std::vector<std::vector<Numbered>>& numbered) const;
  void add_tasks(const RoutedExample& example, std::vector<PartitionTask>& tasks) const;
  void apply(std::span<const Split> splits);

  Learner& learner_;
  std::vector<bool> leads_;
  std::optional<ReaderRank> copies_of_;
  Current current_;
  LabelId first_joining_ = 0;        // the number of the first label in joining_
  std::uint64_t numbered_ = 0;       // examples of the phase that were given a number
  std::deque<std::string> joining_;  // names of labels that have a number but are not in the trees yet, in this order
  std::unordered_map<std::string_view, LabelId> numbers_;  // of the labels in joining_
  std::vector<TreeChange> unsent_;
};

// In the order of labels and trees.
void sort_splits(std::vector<Split>& splits);

}  // namespace cpt
