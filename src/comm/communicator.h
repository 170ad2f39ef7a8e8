// Collectives over a fixed group of ranks. This layer moves bytes and knows nothing of learning.
//
// A communicator is a value that is passed, never a global. There are three: alone (one rank), threads (ranks of one
// process, for tests and thread sanitizers) and MPI; a test wrapper fails at a chosen (rank, call).
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

// A wait took longer than the stall timeout. The message names the call, the ranks that gave no sign of life with their
// hosts, and who speaks. The collective is lost: nothing but ending the job can follow, so never agree_on_error() on
// it.
class StallError : public Error {
 public:
  explicit StallError(const std::string& reason) : Error(Fault::kFailed, reason) {}
};

// A collective that has begun. Destroying one that is not done is allowed only when the whole job is being given up.
class Operation {
 public:
  virtual ~Operation() = default;
  // Makes progress and says whether the buffers may be used again. Never blocks. Throws Error(kFailed) if it failed.
  virtual bool done() = 0;

 private:
  friend class Communicator;
  std::uint64_t bytes_sent_ = 0;  // to other ranks
};

// A rank's parts in a delivery.
struct Outgoing {
  int to;
  ConstBytes bytes;
};
struct Incoming {
  int from;
  Buffer bytes;
};

// Every rank starts the same collectives in the same order, from one thread per rank; several may be under way at once.
// Buffers belong to the caller and stay untouched and alive until the operation is done. No single message exceeds
// kMaxMessage bytes: larger buffers travel as several. All throw Error(kFailed) on a failure of the transport.
class Communicator {
 public:
  static constexpr std::size_t kMaxMessage = std::size_t{1} << 26;

  virtual ~Communicator() = default;

  virtual int rank() const = 0;                     // 0 .. size() - 1; 0 is the coordinator
  virtual int size() const = 0;                     // >= 1
  virtual std::string host_of(int rank) const = 0;  // name of the machine that a rank runs on
  std::string host() const { return host_of(rank()); }

  // Every rank gives mine.size() bytes (the same on all); all.size() == size() * mine.size(), in rank order.
  // Each rank sends mine.size() bytes to every other.
  std::unique_ptr<Operation> start_all_gather(ConstBytes mine, Bytes all);
  // `data` of rank `root` becomes the data of all; the same length and root on all. data.size() bytes reach every rank.
  std::unique_ptr<Operation> start_broadcast(Bytes data, int root);
  // outgoing[r] goes to rank r, incoming[r] comes from it; both have size() entries, and the lengths agree pairwise
  // (see exchange() in collectives.h where they are not known beforehand). Empty ones cost no message. What a rank
  // sends to itself is copied.
  std::unique_ptr<Operation> start_exchange(std::vector<ConstBytes> outgoing, std::vector<Bytes> incoming);
  // Messages whose lengths only their senders know. Each entry of `outgoing` is a message, even where it is empty;
  // `incoming` names the ranks that this one hears of, and when the operation is done, their Buffers hold what they
  // sent in place of what was there (until then they are the operation's, as are the entries). Both name a rank once at
  // most and never this one, and they agree pairwise: a sends to b if and only if b hears of a. Ranks with nothing to
  // send or hear start it with empty lists. Costs nothing but the messages: no rank waits for one that it does not
  // name. Large messages arrive only while the receiver calls done() on the delivery or is in a wait() for anything.
  std::unique_ptr<Operation> start_delivery(std::vector<Outgoing> outgoing, std::vector<Incoming>& incoming);

  // Collective: memory of `bytes` for each rank, the same size on all. Returns, by rank, the areas that this rank can
  // read where they lie; those of ranks on other machines are empty, and all are where a machine has no memory to
  // share. Each starts at a multiple of 64 bytes. The memory stays until the ranks' group (MPI session, threads, this
  // object if it is alone) ends. For SharedWindow, which knows when what is written can be read. Sends 8 bytes to every
  // other rank.
  std::vector<Bytes> share_memory(std::size_t bytes);

  // Waits for an operation; `call` names it in messages: it leads the chain of an Error from the transport. Throws
  // StallError when it takes longer than the stall timeout.
  void wait(Operation& operation, const char* call);

  // Bytes this rank has handed to others so far (not those to itself; a broadcast counts once per receiver), and
  // seconds spent in wait().
  std::uint64_t bytes_sent() const { return bytes_sent_; }
  double seconds_waited() const { return seconds_waited_; }
  // The same by `call`, of all waits that have ended.
  const TrafficByCall& traffic() const { return traffic_; }

  // 0 turns the watchdog off. Default: ten minutes.
  void set_stall_timeout(std::chrono::milliseconds timeout) { stall_timeout_ = timeout; }
  std::chrono::milliseconds stall_timeout() const { return stall_timeout_; }

  // What wait() does besides asking whether its operation is done. Public for wrappers that pass it on.
  //
  // Lets the other operations under way go on, so that ranks may wait for them in different orders. Never blocks.
  virtual void advance() = 0;

  // What share_memory() does once all ranks have come.
  virtual std::vector<Bytes> allocate_shared(std::size_t bytes) = 0;

  // The watchdog's roll call. wait() uses both; they are public for wrappers that pass them on.
  //
  // Asks all other ranks for a sign of life, listens for at most `grace`, and returns the ranks that gave none, in
  // ascending order: those that are not inside a wait().
  virtual std::vector<int> silent_ranks(std::chrono::milliseconds grace) = 0;
  // Gives the sign of life that others have asked for. Cheap; never blocks.
  virtual void answer_roll_call() = 0;

 protected:
  // What the start functions do once the arguments are checked.
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

// The name of this machine; "unknown host" if the system gives none.
std::string host_name();

// Lengthens the stall timeout while it lives, because all ranks do something that is known to take long. If the
// watchdog is off, it stays off.
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

// "rank 3 on node17": how messages name a rank.
std::string rank_and_host(const Communicator& comm, int rank);

}  // namespace cpt
