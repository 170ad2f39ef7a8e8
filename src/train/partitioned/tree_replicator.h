// Keeps the trees of all ranks equal in the partitioned placement: rank 0, which inserts new labels, appends every
// change of its tree to messages that it sends to all ranks anyway.
#pragma once

#include <cstdint>
#include <deque>
#include <vector>

#include "comm/buffer.h"
#include "comm/communicator.h"
#include "model/learning/learner.h"
#include "train/partitioned/partition_owner.h"

namespace cpt {

// Borrows all of them; the learner has the same tree on all ranks. Not thread-safe.
class TreeReplicator {
 public:
  TreeReplicator(Communicator& comm, Learner& learner, PartitionOwner& owner);

  // The number of labels in the trees of all ranks; rank 0 may have more.
  LabelId shared_labels() const { return shared_labels_; }

  // Call it first in each step. Lets the owner forget labels once every round that was read without them is closed.
  void begin_step();
  // On rank 0: appends the changes since the last call, which its tree already has.
  void append_changes(const std::vector<TreeChange>& changes, std::vector<Buffer>& messages) const;
  // Applies the changes that append_changes() appended, and returns whether there are any. Throws Error(kFailed) unless
  // the tree is then that of rank 0.
  bool apply_changes(ConstBytes message);
  // Collective, when no round is in progress: the other ranks apply `changes`, which are rank 0's, and owners forget
  // recent labels, which are all in the tree now. Throws AgreedError.
  void drain(const std::vector<TreeChange>& changes);

 private:
  struct Announced {
    std::uint64_t step;
    LabelId labels;  // that all ranks had then
  };

  Communicator& comm_;
  Learner& learner_;
  PartitionOwner& owner_;
  std::uint64_t steps_ = 0;
  std::deque<Announced> announced_;  // until forgotten
  LabelId shared_labels_;
};

}  // namespace cpt
