// The results of the examples of a round, at the rank that read them.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "cpt/losses.h"
#include "cpt/options.h"
#include "model/estimators/estimator.h"
#include "train/partitioned/wire/messages.h"

namespace cpt {

// The results of the examples that this rank has read, kept until they are counted. Results may come in any order.
class RoundLedger {
 public:
  // The result of an example in one tree.
  struct Part {
    double upper = 1;  // product of the node probabilities on the path of its label, in the root and at level 1
    double deep = 1;   // ... and below
    Ranked drawn;
  };
  struct Entry {
    std::uint64_t order = 0;   // PartitionTask::order
    std::uint64_t number = 0;  // Numbered::number; 0 where the example is not sampled
    float importance = 1;
    bool is_new = false;
    LabelId label = kNoLabel;  // kNoLabel: not known yet, or unknown to a tree that does not learn
    Ranked best;               // kNoLabel: none was found yet
  };

  explicit RoundLedger(std::size_t trees) : trees_(trees) {}

  void clear();
  // In the order of examples: the slots are 0, 1, ...
  void add(std::uint64_t order, float importance, LabelId label);
  std::size_t size() const { return entries_.size(); }

  // Throw a protocol error if no example has this slot.
  void enter(const PartialResult& partial);
  void enter(const Numbered& numbered);
  // Enters the message of a rank: ResultHeader, results, and splits, which are appended to `splits`. Throws a protocol
  // error if the header does not fit.
  void enter_all(ConstBytes message, std::vector<Split>& splits);

  // Counts the examples up to a place in the order, except those that were counted before. REQUIRES: all their results
  // have been entered. Throws Error(kFailed) if the weights have diverged.
  void count_until(std::uint64_t order, const ModelOptions& options, Losses& losses);

 private:
  void count(std::size_t slot, const ModelOptions& options, Losses& losses);

  std::size_t trees_;
  std::vector<Entry> entries_;  // by slot
  std::vector<Part> parts_;     // by part_number()
  std::size_t counted_ = 0;     // slots
  std::vector<Ranked> drawn_;   // of the current example
};

}  // namespace cpt
