#include "train/partitioned/tree_replicator.h"

#include "comm/agreement.h"
#include "comm/collectives.h"
#include "core/number_text.h"
#include "cpt/error.h"
#include "train/partitioned/wire/tree_change_messages.h"

namespace cpt {

namespace {

// After so many steps a round that was read before a rank heard of a label has come to its end everywhere.
constexpr std::uint64_t kStepsUntilForgotten = 5;

// What rank 0 tells of its tree; the changes follow.
struct Announcement {
  std::uint64_t labels;  // with them
  std::uint64_t digest;  // Learner::growth_digest() then
};

}  // namespace

void throw_other_tree(std::uint64_t mine, std::uint64_t first) {
  throw Error(Fault::kFailed, "this tree is not that of rank 0: its digest is " + digest_text(mine) + ", that one's " +
                                  digest_text(first));
}

TreeReplicator::TreeReplicator(Communicator& comm, Learner& learner, PartitionOwner& owner)
    : comm_(comm), learner_(learner), owner_(owner), labels_heard_(static_cast<LabelId>(learner.tree().labels())) {}

void TreeReplicator::begin_step() {
  ++steps_;
  for (; !heard_.empty() && heard_.front().step + kStepsUntilForgotten <= steps_; heard_.pop_front()) {
    owner_.forget_recent_labels(heard_.front().labels);
  }
}

void TreeReplicator::tell(const std::vector<TreeChange>& changes, std::vector<Buffer>& messages) const {
  const Announcement announcement{learner_.tree().labels(), learner_.growth_digest()};
  const std::vector<std::byte> packed = changes.empty() ? std::vector<std::byte>{} : pack(changes);
  for (Buffer& message : messages) {
    message.append(&announcement, sizeof announcement);
    message.append(packed.data(), packed.size());
  }
}

void TreeReplicator::hear(ConstBytes message) {
  const auto announcement = read_front<Announcement>(message);
  const ConstBytes packed = message.subspan(sizeof announcement);
  labels_heard_ = static_cast<LabelId>(announcement.labels);
  heard_.push_back({steps_, labels_heard_});
  if (comm_.rank() == 0) return;
  if (!packed.empty()) {
    for (const TreeChange& change : unpack_changes(packed)) learner_.apply(change);
  }
  if (learner_.growth_digest() != announcement.digest) {
    throw_other_tree(learner_.growth_digest(), announcement.digest);
  }
}

void TreeReplicator::drain(const std::vector<TreeChange>& changes) {
  std::vector<Buffer> messages(1);
  if (comm_.rank() == 0) tell(changes, messages);
  std::vector<std::byte> announcement(messages[0].bytes().begin(), messages[0].bytes().end());
  broadcast_bytes(comm_, announcement, 0, "rest: changes");
  run_on_all(comm_, "rest: changes", [&] { hear(announcement); });
  heard_.clear();
  owner_.forget_recent_labels(static_cast<LabelId>(learner_.tree().labels()));
}

}  // namespace cpt
