// A round under way in the owned placement: its messages, and what a rank keeps of it between steps.
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "comm/communicator.h"
#include "train/balancer.h"
#include "train/bookkeeper.h"
#include "train/dispatcher.h"
#include "train/message_shelf.h"
#include "train/partition_owner.h"
#include "train/visit.h"

namespace cpt {

// Messages of one step of a round from every rank to some others. What a rank has for itself stays where it is.
class Mail {
 public:
  explicit Mail(int ranks) : outgoing_(static_cast<std::size_t>(ranks)), notices_(static_cast<std::size_t>(ranks)) {}

  // By rank. To be filled before start() and left alone until it is done.
  std::vector<Buffer>& outgoing() { return outgoing_; }
  // Sends outgoing[r] to each rank r of `to`, and awaits a message of each rank of `from`; both ascending. What is long
  // goes by the shelf to those that read it. Collective.
  void start(Communicator& comm, MessageShelf& shelf, const std::vector<int>& to, const std::vector<int>& from);
  // Whether start() was called and wait() was not.
  bool under_way() const { return operation_ != nullptr; }
  void wait(Communicator& comm, const char* call);

  // After wait(): the messages of the ranks of `from`, this one included if it was among them, in rank order. Good
  // until the end of the step in which it waited.
  struct Message {
    int from;
    ConstBytes bytes;
  };
  std::vector<Message> received(int self, const MessageShelf& shelf) const;

  void clear();

 private:
  std::vector<Buffer> outgoing_;
  std::vector<Buffer> notices_;  // by rank: sent instead of what lies on the shelf
  std::vector<Incoming> incoming_;
  std::unique_ptr<Operation> operation_;
  bool from_self_ = false;
};

// Leading bytes of messages. is_void, 1 or 0: its sender has failed, or heard of a failure, and did nothing.
struct HopNews {
  std::uint64_t is_void;
  std::uint64_t visit_bytes;  // after them, in messages of rank 0, comes the announcement of changes
};
struct FindingNews {
  std::uint64_t is_void;
  std::uint64_t findings;
  std::uint64_t changes;
};

struct Round {
  enum class Step { kRoot, kLevel1, kDeep, kClose, kDone };

  explicit Round(int ranks) : examples(ranks), root_hops(ranks), level1_hops(ranks), findings(ranks) {}

  Step next = Step::kRoot;
  bool is_void = false;           // some rank has failed, so what is here is not whole
  EpochLoads loads;               // of this rank, if it is the last round of an epoch
  MessageReader arrival_reader;   // holds the examples of arrivals
  MessageReader visit_reader;     // and those of the visits of the stage at hand
  std::vector<Arrival> arrivals;  // at this rank, in order
  StageResults results;           // of this rank
  Book book;                      // on rank 0

  Mail examples;     // RoundNews, arrivals, and to rank 0 warnings
  Mail root_hops;    // HopNews, visits, announcement
  Mail level1_hops;  // HopNews, visits
  Mail findings;     // FindingNews, findings, changes

  // As new, but for the memory it holds.
  void clear();
  // Makes room for HopNews in the messages, and results.hops write what follows it.
  void begin_hops(Mail& mail);
};

}  // namespace cpt
