// What the owner of a root does in a round besides taking examples through it: it numbers examples and new labels. Rank
// 0 also counts the losses in the order of examples, and collects the changes of the trees for the other ranks.
#pragma once

#include <cstdint>
#include <deque>
#include <span>
#include <string>
#include <unordered_map>
#include <utility>
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
    std::uint64_t coins = 0;   // of its draws
    LabelId label = kNoLabel;  // kNoLabel: unknown to a tree that does not learn
    Ranked best;               // kNoLabel: none was found yet
  };
  // What an example came to in one tree.
  struct Part {
    double upper = 1;  // product of the node probabilities on the path of its label, in the root and at level 1
    double deep = 1;   // ... and below
    Ranked drawn;
  };

  std::vector<Entry> entries;        // by slot
  std::vector<Part> parts;           // by part_number()
  std::vector<std::uint32_t> order;  // slots in the order of examples
  std::uint64_t first_number = 0;    // of the first of them in its phase, counted from 1
  std::vector<Split> splits;

  void clear(std::size_t examples, std::size_t trees);
  std::size_t trees() const { return entries.empty() ? 1 : parts.size() / entries.size(); }
  std::span<const Part> parts_of(std::uint32_t slot) const { return std::span(parts).subspan(slot * trees(), trees()); }
  // Throws a protocol error if no example has its number.
  void enter(const PartialResult& partial);
  // Enters the message of a rank: ResultHeader, results and splits. Throws a protocol error if the header does not fit.
  void enter_all(ConstBytes message);
};

// One on each rank that owns a root: all number the same examples, and so give new labels the same ids. Works on the
// learner whose trees are copied to all ranks, and on rank 0 on the losses of the phase.
class Coordinator {
 public:
  // `leads`: by tree, whether this rank owns its root.
  Coordinator(Learner& learner, Progress& progress, std::vector<bool> leads)
      : learner_(learner), progress_(progress), leads_(std::move(leads)) {}

  // Before the first round of a pass. `numbered`: examples of the phase so far.
  void begin_pass(std::uint64_t numbered) { numbered_ = numbered; }

  // Opens the ledger of a round of `count` examples; returns their tasks at the roots of this rank, where unknown
  // labels become new ones (if learning). `examples` in order: all of them for each root of this rank, and some for
  // other trees. Throws a protocol error on slots or labels that do not exist, and if an example is missing.
  std::vector<PartitionTask> open(const std::vector<RoutedExample>& examples, std::size_t count, bool learning,
                                  RoundLedger& ledger);

  // On rank 0: counts the results of a round and inserts its new labels into the trees, all in the order of examples.
  // The ledger is complete. Throws Error(kFailed) if the weights have diverged, and a protocol error unless the splits
  // are those of the new labels.
  void close(RoundLedger& ledger);

  // Changes that joined the trees since the last call, for the others to apply in the same order.
  std::vector<TreeChange> take_changes();

 private:
  void forget_joined();
  std::uint64_t labels() const;
  LabelId find(const RoutedExample& example) const;
  LabelId add(std::string_view name);
  void enter(const RoutedExample& example, bool learning, RoundLedger::Entry& entry);
  void add_tasks(const RoutedExample& example, const RoundLedger::Entry& entry,
                 std::vector<PartitionTask>& tasks) const;
  void count(const RoundLedger& ledger, std::uint32_t slot, std::uint64_t number);
  void apply(std::span<const Split> splits, LabelId label);

  Learner& learner_;
  Progress& progress_;
  std::vector<bool> leads_;
  LabelId first_joining_ = 0;        // the number of the first label in joining_
  std::uint64_t numbered_ = 0;       // examples of the phase that were given a number
  std::deque<std::string> joining_;  // names of labels that have a number but are not in the trees yet, in this order
  std::unordered_map<std::string_view, LabelId> numbers_;  // of the labels in joining_
  std::vector<TreeChange> unsent_;
  std::vector<Ranked> drawn_;  // of the current example
};

}  // namespace cpt
