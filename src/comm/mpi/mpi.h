// Ranks as MPI processes. No MPI header is seen from here, so that only mpi*.cpp depend on the installed MPI.
#pragma once

#include <memory>
#include <string>

#include "comm/communicator.h"

namespace cpt {

// MPI from its start to its end; one per process, made and used by the main thread only. Failures of MPI are
// Error(kFailed) with MPI's own text, never an abort by the library.
class MpiSession {
 public:
  MpiSession();  // throws Error if MPI does not offer what is needed
  // Ends MPI, which waits for all other ranks to do the same: after an error that not all ranks share, abort() instead.
  ~MpiSession();
  MpiSession(const MpiSession&) = delete;
  MpiSession& operator=(const MpiSession&) = delete;

  // All processes of the job. Called by all of them; must not outlive the session. Messages carry max_message bytes at
  // most, the same on all ranks: tests make it small. Not so small that 2^16 messages to one rank are under way at
  // once: Open MPI then confuses their order.
  std::unique_ptr<Communicator> world(std::size_t max_message = Communicator::kMaxMessage);

  // Ends all ranks at once with this exit code. For main alone, once the reason has been printed and flushed.
  [[noreturn]] void abort(int exit_code);

 private:
  class State;
  std::unique_ptr<State> state_;
};

// What the MPI library calls itself, in one line. Needs no session.
std::string mpi_version();

}  // namespace cpt
