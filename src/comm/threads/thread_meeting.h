// One collective among threads: all ranks come with what they send and where they receive, and the last one copies it.
#pragma once

#include <atomic>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "comm/communicator.h"

namespace cpt {

// A rank's part in a collective. Every kind but the delivery is the same table of buffers: to and from each rank, empty
// where nothing goes.
struct ThreadCall {
  enum class Kind { kAllGather, kBroadcast, kExchange, kDelivery };

  static ThreadCall all_gather(ConstBytes mine, Bytes all);
  static ThreadCall broadcast(Bytes data, int root, int rank, int ranks);
  static ThreadCall exchange(std::vector<ConstBytes> outgoing, std::vector<Bytes> incoming);
  static ThreadCall delivery(std::vector<Outgoing> messages, std::span<Incoming> heard);

  Kind kind;
  std::size_t bytes;  // what all ranks must agree on; 0 for an exchange or a delivery
  int root;           // 0 where there is none
  std::vector<ConstBytes> outgoing;
  std::vector<Bytes> incoming;
  std::vector<Outgoing> messages;  // of a delivery
  std::span<Incoming> heard;
};

// Where the ranks' n-th calls meet. The caller's mutex guards all but complete().
class Meeting {
 public:
  explicit Meeting(std::size_t ranks) : calls_(ranks) {}

  // Throws Error if the call does not fit those that came before, naming both. The last one to join moves the data.
  void join(int rank, ThreadCall call);
  bool joined(int rank) const { return calls_[static_cast<std::size_t>(rank)].has_value(); }
  bool complete() const { return complete_.load(std::memory_order_acquire); }

 private:
  void check_against_first(int rank, const ThreadCall& call) const;
  void move_data();
  void deliver();
  // The entry of rank `to` for what `from` sends it; Error if there is none.
  Incoming& entry(int from, int to) const;
  // Error unless rank `from` sends to rank `to`.
  void expect_message(int from, int to) const;

  std::vector<std::optional<ThreadCall>> calls_;  // by rank
  std::size_t joined_ = 0;
  int first_ = 0;
  std::atomic<bool> complete_{false};
};

}  // namespace cpt
