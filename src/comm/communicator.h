// Collectives over a fixed group of ranks. This layer moves bytes and does not interpret them.
//
// A communicator is passed as an argument, never a global. There are three: Alone (one rank), ThreadGroup (ranks of one
// process, for tests and thread sanitizers) and MpiSession.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "comm/buffer.h"
#include "cpt/error.h"
#include "cpt/traffic.h"

namespace cpt {

// A wait took longer than the stall timeout. The message names this rank, the call, and the ranks that gave no sign of
// life, with their hosts. The collective is lost, and the job must end: never pass this to agree_on_error().
class StallError : public Error {
 public:
  explicit StallError(const std::string& reason) : Error(Fault::kFailed, reason) {}
};

// A collective in progress. It may be destroyed before it is done only if the whole job is given up.
class Operation {
 public:
  virtual ~Operation() = default;
  // Makes progress, and returns whether the buffers may be used again. Never blocks. Throws Error(kFailed) if it
  // failed.
  virtual bool done() = 0;

 private:
  friend class Communicator;
  std::uint64_t bytes_sent_ = 0;  // to other ranks
};

// A message that a rank sends or receives in a delivery.
struct Outgoing {
  int to;
  ConstBytes bytes;
};
struct Incoming {
  int from;
  Buffer bytes;
};

// The reason why a rank that gives a sign of life waits.
enum class WaitsFor : std::uint8_t { kRanks, kInput };

// The result of a roll call of the other ranks.
struct RollCallResult {
  std::vector<int> silent;        // those that gave no sign of life, in ascending order
  bool input_is_awaited = false;  // by one of the rest
};

// Every rank must start the same collectives in the same order, from one thread per rank; several may be in progress at
// once. Buffers belong to the caller, who must keep them, unchanged, until the operation is done. Buffers above
// kMaxMessage bytes are sent as several messages. All functions throw Error(kFailed) on a failure of the transport.
class Communicator {
 public:
  static constexpr std::size_t kMaxMessage = std::size_t{1} << 26;

  virtual ~Communicator() = default;

  virtual int rank() const = 0;                     // 0 .. size() - 1; 0 is the coordinator
  virtual int size() const = 0;                     // >= 1
  virtual std::string host_of(int rank) const = 0;  // name of the machine that a rank runs on
  std::string host() const { return host_of(rank()); }

  // Gathers `mine` of all ranks into `all`, in rank order. mine.size() must be equal on all ranks, and all.size() ==
  // size() * mine.size(). Each rank sends mine.size() bytes to every other.
  std::unique_ptr<Operation> start_all_gather(ConstBytes mine, Bytes all);
  // Copies `data` of rank `root` to all ranks. Length and root must be equal on all. data.size() bytes reach every
  // rank.
  std::unique_ptr<Operation> start_broadcast(Bytes data, int root);
  // Sends outgoing[r] to rank r, and receives incoming[r] from it. Both have size() entries, and lengths must agree
  // pairwise (see exchange() in collectives.h for lengths that receivers do not know). Empty entries send no message;
  // the entry of this rank itself is copied.
  std::unique_ptr<Operation> start_exchange(std::vector<ConstBytes> outgoing, std::vector<Bytes> incoming);
  // Exchanges messages whose lengths only their senders know. Each entry of `outgoing` is a message, even an empty one.
  // `incoming` names the ranks that send to this one; when the operation is done, each Buffer holds the message of its
  // rank. Until then, entries and Buffers belong to the operation. Both lists name a rank at most once and never this
  // one, and must agree pairwise: a sends to b if and only if b expects a. Ranks without messages pass empty lists. No
  // rank waits for one that it does not name. Large messages arrive only while the receiver calls done() on the
  // delivery or is in any wait().
  std::unique_ptr<Operation> start_delivery(std::vector<Outgoing> outgoing, std::vector<Incoming>& incoming);

  // Collective: allocates `bytes`, equal on all, of shared memory for each rank. Returns, by rank, the areas that this
  // rank can read in place, each at a multiple of 64 bytes. Areas of ranks on other machines are empty; all are empty
  // if a machine has no memory to share. The memory lives as long as the group of ranks (the MPI session, the
  // ThreadGroup, or this Alone). Use SharedWindow, which orders writes and reads. Sends 8 bytes to every other rank.
  std::vector<Bytes> share_memory(std::size_t bytes);

  // Waits for an operation. `call` names it in messages and leads the chain of an Error from the transport. Throws
  // StallError if it takes longer than the stall timeout, unless a rank says that it waits for input.
  void wait(Operation& operation, const char* call);

  // Bytes that this rank has sent to others so far (a broadcast counts once per receiver), and seconds spent in wait().
  std::uint64_t bytes_sent() const { return bytes_sent_; }
  double seconds_waited() const { return seconds_waited_; }
  // Both by `call`, over all waits that have ended.
  const TrafficByCall& traffic() const { return traffic_; }

  // 0 turns the watchdog off. Default: ten minutes.
  void set_stall_timeout(std::chrono::milliseconds timeout) { stall_timeout_ = timeout; }
  std::chrono::milliseconds stall_timeout() const { return stall_timeout_; }

  // The rest is for implementations. It is public for wrappers that pass it on.

  // Called in wait(): advances the other operations in progress, so that ranks may wait for them in different orders.
  // Never blocks.
  virtual void advance() = 0;

  // Called by share_memory() once all ranks have arrived.
  virtual std::vector<Bytes> allocate_shared(std::size_t bytes) = 0;

  // The watchdog's roll call, in wait(). Requests a sign of life from all other ranks, and waits for at most `grace`.
  // Silent are those that are neither in a wait() nor say that they wait for input.
  virtual RollCallResult call_roll(std::chrono::milliseconds grace) = 0;
  // Gives the sign of life that other ranks requested. Cheap; never blocks. A rank that waits for input calls it
  // itself, several times a second.
  virtual void answer_roll_call(WaitsFor waits_for) = 0;

 protected:
  // Called by the start functions once the arguments are checked.
  virtual std::unique_ptr<Operation> begin_all_gather(ConstBytes mine, Bytes all) = 0;
  virtual std::unique_ptr<Operation> begin_broadcast(Bytes data, int root) = 0;
  virtual std::unique_ptr<Operation> begin_exchange(std::vector<ConstBytes> outgoing, std::vector<Bytes> incoming) = 0;
  virtual std::unique_ptr<Operation> begin_delivery(std::vector<Outgoing> outgoing,
                                                    std::vector<Incoming>& incoming) = 0;

 private:
  std::unique_ptr<Operation> sending(std::uint64_t bytes, std::unique_ptr<Operation> operation);
  void poll_until_done(Operation& operation, const char* call);
  void count(const Operation& operation, const char* call, double seconds);
  [[noreturn]] void throw_stall(const std::vector<int>& silent, const char* call, double seconds) const;

  std::uint64_t bytes_sent_ = 0;
  double seconds_waited_ = 0;
  TrafficByCall traffic_;
  std::chrono::milliseconds stall_timeout_{std::chrono::minutes(10)};
};

// The name of this machine, or "unknown host".
std::string host_name();

// Lengthens the stall timeout during its lifetime, for work of all ranks that is known to take long. If the watchdog is
// off, it stays off.
class StallTimeoutExtension {
 public:
  StallTimeoutExtension(Communicator& comm, std::chrono::milliseconds more)
      : comm_(comm), before_(comm.stall_timeout()) {
    if (before_.count() != 0) comm_.set_stall_timeout(before_ + more);
  }
  ~StallTimeoutExtension() { comm_.set_stall_timeout(before_); }
  StallTimeoutExtension(const StallTimeoutExtension&) = delete;
  StallTimeoutExtension& operator=(const StallTimeoutExtension&) = delete;

 private:
  Communicator& comm_;
  std::chrono::milliseconds before_;
};

// How messages name a rank: "rank 3 on node17".
std::string rank_and_host(const Communicator& comm, int rank);

}  // namespace cpt
