// The part of rank 0 in a round besides owning the root: it numbers labels, counts the losses in the order of examples,
// and collects the changes of the tree for the other ranks.
#pragma once

#include <cstdint>
#include <deque>
#include <string>
#include <unordered_map>
#include <vector>

#include "model/learning/learner.h"
#include "train/partitioned/partition_owner.h"
#include "train/partitioned/wire/messages.h"
#include "train/progress/progress.h"

namespace cpt {

// The results of the examples of a round, kept until they are counted.
class RoundLedger {
 public:
  struct Entry {
    float importance = 1;
    bool is_new = false;
    bool is_drawn = false;     // for the Brier score
    bool is_searched = false;  // for its best label
    LabelId label = kNoLabel;  // kNoLabel: unknown to a tree that does not learn
    double root = 1;           // products of the node probabilities on the path of its label
    double level1 = 1;
    double deep = 1;
    double drawn = 0;  // the probability of the label that was drawn
    LabelId best = kNoLabel;
    double best_probability = 0;
  };

  std::vector<Entry> entries;        // by slot
  std::vector<std::uint32_t> order;  // slots in the order of examples
  std::uint64_t first_number = 0;    // of the first of them in its phase, counted from 1
  std::vector<Split> splits;

  // Throws a protocol error if no example has its slot.
  void enter(const PartialResult& partial);
  // Enters the message of a rank: ResultHeader, results and splits. Throws a protocol error if the header does not fit.
  void enter_all(ConstBytes message);
};

// Works on the learner whose tree is copied to all ranks, and on the losses of the phase.
class Coordinator {
 public:
  Coordinator(Learner& learner, Progress& progress) : learner_(learner), progress_(progress) {}

  // Before the first round of a pass.
  void begin_pass() { numbered_ = progress_.losses().examples; }

  // Opens the ledger of a round; returns the tasks of its examples at the root, where unknown labels become new ones
  // (if learning). `examples` in order, with slots below their number. Throws a protocol error on other slots or
  // labels.
  std::vector<PartitionTask> open(const std::vector<RoutedExample>& examples, bool learning, RoundLedger& ledger);

  // Counts the results of a round and inserts its new labels into the tree, all in the order of examples. The ledger is
  // complete. Throws Error(kFailed) if the weights have diverged, and a protocol error unless the splits are those of
  // the new labels.
  void close(RoundLedger& ledger);

  // Changes that joined the tree since the last call, for the others to apply in the same order.
  std::vector<TreeChange> take_changes();

 private:
  LabelId find(const RoutedExample& example) const;
  LabelId add(std::string_view name);
  void count(const RoundLedger::Entry& entry, std::uint64_t number);
  void apply(const Split& split, LabelId label);

  Learner& learner_;
  Progress& progress_;
  std::uint64_t numbered_ = 0;       // examples of the phase that were given a number
  std::deque<std::string> joining_;  // names of labels that have a number but are not in the tree yet, in this order
  std::unordered_map<std::string_view, LabelId> numbers_;  // of the labels in joining_
  std::vector<TreeChange> unsent_;
};

}  // namespace cpt
