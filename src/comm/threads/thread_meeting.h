// One collective among threads: all ranks join with their buffers, and the last one copies the bytes.
#pragma once

#include <atomic>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "comm/communicator.h"

namespace cpt {

// The part of one rank in a collective. Every kind but the delivery is a table of buffers to and from each rank; empty
// ones carry nothing.
struct ThreadCall {
  enum class Kind { kAllGather, kBroadcast, kExchange, kDelivery };

  static ThreadCall all_gather(ConstBytes mine, Bytes all);
  static ThreadCall broadcast(Bytes data, int root, int rank, int ranks);
  static ThreadCall exchange(std::vector<ConstBytes> outgoing, std::vector<Bytes> incoming);
  static ThreadCall delivery(std::vector<Outgoing> messages, std::span<Incoming> expected);

  Kind kind;
  std::size_t bytes;  // must be equal on all ranks; 0 for an exchange or a delivery
  int root;           // 0 if there is none
  std::vector<ConstBytes> outgoing;
  std::vector<Bytes> incoming;
  std::vector<Outgoing> messages;  // of a delivery
  std::span<Incoming> expected;
};

// Matches the n-th calls of all ranks. The caller's mutex guards all but complete().
class Meeting {
 public:
  explicit Meeting(std::size_t ranks) : calls_(ranks) {}

  // Throws Error that names both calls, if this one does not fit an earlier one. The last one to join moves the data.
  void join(int rank, ThreadCall call);
  bool joined(int rank) const { return calls_[static_cast<std::size_t>(rank)].has_value(); }
  bool complete() const { return complete_.load(std::memory_order_acquire); }

 private:
  void check_against_first(int rank, const ThreadCall& call) const;
  void move_data();
  void deliver();
  // The entry of rank `to` for the message of rank `from`; throws Error if there is none.
  Incoming& entry(int from, int to) const;
  // Throws Error unless rank `from` sends to rank `to`.
  void expect_message(int from, int to) const;

  std::vector<std::optional<ThreadCall>> calls_;  // by rank
  std::size_t joined_ = 0;
  int first_ = 0;
  std::atomic<bool> complete_{false};
};

}  // namespace cpt
