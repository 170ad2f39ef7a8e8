// A round under way in the partitioned placement: its messages, and what a rank keeps of it between steps.
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "comm/communicator.h"
#include "train/partitioned/coordinator.h"
#include "train/partitioned/dispatcher.h"
#include "train/partitioned/partition_owner.h"
#include "train/partitioned/wire/partition_task.h"
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

// Leading bytes of messages. is_void, 1 or 0: its sender has failed, or heard of a failure, and did nothing.
struct HopHeader {
  std::uint64_t is_void;
  std::uint64_t visit_bytes;  // after them, in messages of rank 0, comes the announcement of changes
};
struct ResultHeader {
  std::uint64_t is_void;
  std::uint64_t partials;
  std::uint64_t changes;
};

struct Round {
  enum class Step { kRoot, kLevel1, kDeep, kClose, kDone };

  explicit Round(int ranks) : examples(ranks), root_hops(ranks), level1_hops(ranks), partials(ranks) {}

  Step next = Step::kRoot;
  bool is_void = false;                        // some rank has failed, so what is here is not whole
  IntervalLoads loads;                         // of this rank, if it is the last round of an sync interval
  MessageReader arrival_reader;                // holds the examples of routed_examples
  MessageReader visit_reader;                  // and those of the tasks of the stage at hand
  std::vector<RoutedExample> routed_examples;  // at this rank, in order
  StageResults results;                        // of this rank
  RoundLedger ledger;                          // on rank 0

  RankMessages examples;     // RoundHeader, routed_examples, and to rank 0 warnings
  RankMessages root_hops;    // HopHeader, tasks, announcement
  RankMessages level1_hops;  // HopHeader, tasks
  RankMessages partials;     // ResultHeader, partials, changes

  // As new, but for the memory it holds.
  void clear();
  // Makes room for HopHeader in the messages, and results.hops write what follows it.
  void begin_hops(RankMessages& mail);
};

}  // namespace cpt
