// One rank's error is everyone's decision: all ranks stop for the same reason, and leave by the same door.
#pragma once

#include <cstdint>
#include <exception>
#include <string>

#include "comm/communicator.h"

namespace cpt {

// The same on all ranks: the fault of the lowest failing rank and "rank 2 on node7: reason (and 3 more ranks failed)".
class AgreedError : public Error {
 public:
  AgreedError(Fault fault, const std::string& reason) : Error(fault, reason) {}
};

// Called by all ranks, each with the exception it caught or nullptr. If any brings one, all throw the same AgreedError.
// Costs 8 bytes to every other rank when nobody fails. Not for a failure of the communicator itself (StallError, an
// Error of wait()): the others would not come. An AgreedError brought here is passed on as it is.
void agree_on_error(Communicator& comm, const std::exception_ptr& mine, const char* call);

// Runs `work` on every rank; if it throws on any, all throw the same AgreedError. `work` must not call the
// communicator. Alone, the error stays as it is.
template <class Work>
void run_on_all(Communicator& comm, const char* call, Work work) {
  if (comm.size() == 1) return work();
  std::exception_ptr failure;
  try {
    work();
  } catch (...) {
    failure = std::current_exception();
  }
  agree_on_error(comm, failure, call);
}

// The same in two halves, for callers whose own control message can carry the news: 0 for nullptr, else the fault ...
std::uint64_t encode_fault(const std::exception_ptr& mine);
// ... and once all ranks know that at least one failed, all call this. Sends a few words and the reason.
[[noreturn]] void throw_agreed(Communicator& comm, const std::exception_ptr& mine);

}  // namespace cpt
