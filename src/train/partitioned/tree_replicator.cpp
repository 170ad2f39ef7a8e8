#include "train/partitioned/tree_replicator.h"

#include "comm/agreement.h"
#include "comm/collectives.h"
#include "core/number_text.h"
#include "cpt/error.h"
#include "train/messages/tree_change_messages.h"
#include "train/partitioned/wire/messages.h"

namespace cpt {

TreeReplicator::TreeReplicator(Communicator& comm, Learner& learner, PartitionOwner& owner)
    : comm_(comm), learner_(learner), owner_(owner), shared_labels_(static_cast<LabelId>(learner.tree().labels())) {}

void TreeReplicator::begin_step() {
  ++steps_;
  for (; !announced_.empty() && announced_.front().step + kStepsUntilForgotten <= steps_; announced_.pop_front()) {
    owner_.forget_recent_labels(announced_.front().labels);
  }
}

void TreeReplicator::append_changes(const std::vector<TreeChange>& changes, std::vector<Buffer>& messages) const {
  const TreeAnnouncement announcement{learner_.tree().labels(), learner_.growth_digest()};
  const std::vector<std::byte> packed = changes.empty() ? std::vector<std::byte>{} : pack(changes);
  for (Buffer& message : messages) {
    message.append(&announcement, sizeof announcement);
    message.append(packed.data(), packed.size());
  }
}

bool TreeReplicator::apply_changes(ConstBytes message) {
  const auto announcement = take_header<TreeAnnouncement>(message);
  shared_labels_ = static_cast<LabelId>(announcement.labels);
  announced_.push_back({steps_, shared_labels_});
  const bool any = !message.empty();
  if (comm_.rank() == 0) return any;
  if (!message.empty()) {
    for (const TreeChange& change : unpack_changes(message)) learner_.apply(change);
  }
  const std::uint64_t mine = learner_.growth_digest();
  if (mine == announcement.digest) return any;
  throw Error(Fault::kFailed, "this tree is not that of rank 0: its digest is " + digest_text(mine) + ", that one's " +
                                  digest_text(announcement.digest));
}

void TreeReplicator::drain(const std::vector<TreeChange>& changes) {
  std::vector<Buffer> messages(1);
  if (comm_.rank() == 0) append_changes(changes, messages);
  std::vector<std::byte> announcement(messages[0].bytes().begin(), messages[0].bytes().end());
  broadcast_bytes(comm_, announcement, 0, "drain: changes");
  run_on_all(comm_, "drain: changes", [&] { apply_changes(announcement); });
  announced_.clear();
  owner_.forget_recent_labels(static_cast<LabelId>(learner_.tree().labels()));
}

}  // namespace cpt
