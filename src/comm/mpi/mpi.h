// Ranks as MPI processes. This header includes no MPI header, so only mpi*.cpp depend on the installed MPI.
#pragma once

#include <memory>
#include <string>

#include "comm/communicator.h"

namespace cpt {

// MPI from its initialization to its end. One per process; created and used by the main thread only. Failures of MPI
// are Error(kFailed) with MPI's own text, never an abort by the library.
class MpiSession {
 public:
  MpiSession();  // throws Error if this MPI lacks a required feature
  // Ends MPI, which waits until all other ranks do the same. After an error that not all ranks share, call abort()
  // instead.
  ~MpiSession();
  MpiSession(const MpiSession&) = delete;
  MpiSession& operator=(const MpiSession&) = delete;

  // Collective: a communicator of all processes of the job. It must not outlive the session. Messages have at most
  // max_message bytes, equal on all ranks. Tests make it small, but not so small that 2^16 messages to one rank are in
  // progress at once: Open MPI then confuses their order.
  std::unique_ptr<Communicator> world(std::size_t max_message = Communicator::kMaxMessage);

  // Ends all ranks at once with this exit code. For main only, after it has printed and flushed the reason.
  [[noreturn]] void abort(int exit_code);

 private:
  class State;
  std::unique_ptr<State> state_;
};

// Name and version of the MPI library, in one line. Needs no session.
std::string mpi_version();

}  // namespace cpt
