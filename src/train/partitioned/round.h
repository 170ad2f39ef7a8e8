// A round in progress in the partitioned placement: its messages, and the state of a rank between its steps.
#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <vector>

#include "comm/communicator.h"
#include "train/partitioned/coordinator.h"
#include "train/partitioned/dispatcher.h"
#include "train/partitioned/partition_owner.h"
#include "train/placement/balancer.h"

namespace cpt {

// Messages of one step of a round from every rank to some others. A rank's message to itself stays where it is.
class RankMessages {
 public:
  explicit RankMessages(int ranks) : outgoing_(static_cast<std::size_t>(ranks)) {}

  // By rank. Fill these before start(), then leave them alone until wait() returns.
  std::vector<Buffer>& outgoing() { return outgoing_; }
  // Sends outgoing[r] to each rank r of `to`, and awaits a message of each rank of `from`; both ascending. Collective.
  void start(Communicator& comm, const std::vector<int>& to, const std::vector<int>& from);
  // Whether start() was called and wait() was not.
  bool under_way() const { return operation_ != nullptr; }
  void wait(Communicator& comm, const char* call);

  // After wait(): the messages of the ranks of `from`, in rank order. If this rank is one of them, its own message is
  // there, too. They stay until the next start() or clear().
  struct Message {
    int from;
    ConstBytes bytes;
  };
  std::vector<Message> received(int self) const;

  void clear();

 private:
  std::vector<Buffer> outgoing_;
  std::vector<Incoming> incoming_;
  std::unique_ptr<Operation> operation_;
  bool from_self_ = false;
};

struct Round {
  enum class Step { kRoot, kLevel1, kDeep, kClose, kDone };

  explicit Round(int ranks) : examples(ranks), root_hops(ranks), level1_hops(ranks), partials(ranks) {}

  Step next = Step::kRoot;
  bool is_void = false;                        // some rank has failed, so what is here is incomplete
  IntervalLoads loads;                         // of this rank, if it is the last round of a sync interval
  std::vector<RoutedExample> routed_examples;  // at this rank, in order; refer to `examples` and rings
  StageResults results;                        // of this rank
  RoundLedger ledger;                          // on rank 0

  // See wire/messages.h.
  RankMessages examples;
  RankMessages root_hops;
  RankMessages level1_hops;
  RankMessages partials;

  std::array<RankMessages*, 4> all_messages() { return {&examples, &root_hops, &level1_hops, &partials}; }
  // Makes it a new round that keeps its memory.
  void clear();
  // Reserves the header of each message; results.hops write what follows it.
  void begin_hops(RankMessages& messages);
};

}  // namespace cpt
