// A round in progress in the partitioned placement: its messages, and the state of a rank between its steps.
#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <vector>

#include "comm/communicator.h"
#include "train/partitioned/coordinator.h"
#include "train/partitioned/dispatcher.h"
#include "train/partitioned/ledger.h"
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

  Round(int ranks, std::size_t trees)
      : results(static_cast<std::size_t>(ranks)),
        ledger(trees),
        examples(ranks),
        root_hops(ranks),
        level1_hops(ranks),
        result_messages(ranks) {}

  Step next = Step::kRoot;
  bool is_void = false;                        // some rank has failed, so what is here is incomplete
  IntervalLoads loads;                         // of this rank, if it is the last round of a sync interval
  std::vector<RoutedExample> routed_examples;  // at this rank, in order; refer to `examples` and rings
  StageResults results;                        // of this rank
  RoundLedger ledger;                          // of the examples that this rank has read
  std::uint64_t examples_of_all = 0;           // read by all ranks
  std::vector<ReportPoint> reports;
  std::uint64_t labels = 0;   // on rank 0: in the trees after the round
  std::vector<Split> splits;  // likewise: of the new labels

  // See wire/messages.h.
  RankMessages examples;
  RankMessages root_hops;
  RankMessages level1_hops;
  RankMessages result_messages;

  std::array<RankMessages*, 4> all_messages() { return {&examples, &root_hops, &level1_hops, &result_messages}; }
  // Makes it a new round that keeps its memory.
  void clear();
  // Reserves the header of each message; results.hops write what follows it.
  void begin_hops(RankMessages& messages);
};

}  // namespace cpt
