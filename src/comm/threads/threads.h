// Ranks as threads of one process, for tests and thread sanitizers.
#pragma once

#include <exception>
#include <functional>
#include <memory>
#include <string>

#include "comm/communicator.h"

namespace cpt {

// The ranks of one group. Collectives are matched by their order; calls that do not fit (by kind, length or root) throw
// an Error that names both. As soon as one rank fails or leaves, calls that need it throw on the others: no rank hangs.
class ThreadGroup {
 public:
  explicit ThreadGroup(int ranks);  // >= 1
  ~ThreadGroup();                   // no rank may be in a call
  ThreadGroup(const ThreadGroup&) = delete;
  ThreadGroup& operator=(const ThreadGroup&) = delete;

  // The communicator of a rank, for one thread at a time. Belongs to the group.
  Communicator& at(int rank);

  // The rank makes no further calls, because it is finished or has failed. Any thread may call these.
  void leave(int rank);
  void fail(int rank, const std::string& reason);

  // Whether a call of this rank has thrown because of another rank: its own error is then only a consequence.
  bool failed_by_others(int rank) const;

  class State;

 private:
  std::unique_ptr<State> state_;
  std::vector<std::unique_ptr<Communicator>> members_;
};

// Runs `body` on `ranks` ranks, each in its own thread, and waits for all. If bodies throw, rethrows the error of the
// lowest rank whose error is not a consequence of another rank's.
void run_threads(int ranks, const std::function<void(Communicator&)>& body);

}  // namespace cpt
