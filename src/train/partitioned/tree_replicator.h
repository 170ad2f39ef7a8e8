// How the trees of all ranks stay alike in the partitioned placement: rank 0, on whose tree new labels join, tells the
// others of every change, with messages that it sends them anyway.
#pragma once

#include <cstdint>
#include <deque>
#include <vector>

#include "comm/buffer.h"
#include "comm/communicator.h"
#include "model/learning/learner.h"
#include "train/partitioned/partition_owner.h"

namespace cpt {

// Says that the tree of this rank is not that of rank 0: Error(kFailed), with both digests.
[[noreturn]] void throw_other_tree(std::uint64_t mine, std::uint64_t first);

// Borrows all of them; the learner has the same tree on all ranks. Not thread-safe.
class TreeReplicator {
 public:
  TreeReplicator(Communicator& comm, Learner& learner, PartitionOwner& owner);

  // Labels of which all ranks have heard; rank 0 may know of more.
  LabelId labels_heard() const { return labels_heard_; }

  // Once per step of the rounds, before anything else in it: what was read by a tree that lacked some labels comes to
  // its end, and with it what the owner remembers for its sake.
  void begin_step();
  // On rank 0: appends the changes since the last time, which its tree has already.
  void tell(const std::vector<TreeChange>& changes, std::vector<Buffer>& messages) const;
  // What it appended. Throws Error(kFailed) if the tree does not become that of rank 0.
  void hear(ConstBytes message);
  // When no round is under way, on all ranks: those who have not heard of all changes do, and what owners know of their
  // own is in the tree. `changes` are those of rank 0. Throws AgreedError.
  void drain(const std::vector<TreeChange>& changes);

 private:
  struct Heard {
    std::uint64_t step;
    LabelId labels;  // of which all ranks had heard then
  };

  Communicator& comm_;
  Learner& learner_;
  PartitionOwner& owner_;
  std::uint64_t steps_ = 0;
  std::deque<Heard> heard_;  // until forgotten
  LabelId labels_heard_;
};

}  // namespace cpt
