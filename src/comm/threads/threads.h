// Ranks as threads of one process: for tests, for thread sanitizers, and for learning on one machine without MPI.
#pragma once

#include <exception>
#include <functional>
#include <memory>
#include <string>

#include "comm/communicator.h"

namespace cpt {

// The ranks of one group. Collectives are matched by call order; calls that do not fit one another (kind, length, root)
// are an Error naming both. As soon as one rank fails or leaves, calls that need it throw on the others: nobody hangs.
class ThreadGroup {
 public:
  explicit ThreadGroup(int ranks);  // >= 1
  ~ThreadGroup();                   // no rank may be in a call any more
  ThreadGroup(const ThreadGroup&) = delete;
  ThreadGroup& operator=(const ThreadGroup&) = delete;

  // The communicator of a rank, for one thread at a time. Belongs to the group.
  Communicator& at(int rank);

  // The rank makes no further calls: it ended as it should, or because of an error. Any thread may say so.
  void leave(int rank);
  void fail(int rank, const std::string& reason);

  // Whether a call of this rank has thrown because of another one: what it throws itself is then only a consequence.
  bool was_told(int rank) const;

  class State;

 private:
  std::unique_ptr<State> state_;
  std::vector<std::unique_ptr<Communicator>> members_;
};

// Runs `body` on `ranks` ranks, each in a thread of its own, and waits for all. If bodies throw, rethrows the error of
// the lowest rank whose error is not a consequence of another rank's.
void run_threads(int ranks, const std::function<void(Communicator&)>& body);

}  // namespace cpt
