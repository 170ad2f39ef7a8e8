// A communicator that breaks on purpose: at one call of one rank.
#pragma once

#include <csignal>
#include <cstdint>
#include <functional>

#include "comm/interposed.h"

namespace cpt::testing {

// When its rank starts collective number `call` (0, 1, ...), the wrapper runs `misfortune` first. It may throw, sleep,
// or end the process. Everything else is the inner communicator's, which must outlive the wrapper.
class Faulty : public Interposed {
 public:
  Faulty(Communicator& inner, int rank, std::uint64_t call, std::function<void()> misfortune)
      : Interposed(inner, [&inner, rank, call, misfortune = std::move(misfortune)](std::uint64_t number) {
          if (number == call && inner.rank() == rank) misfortune();
        }) {}
};

// Misfortunes.
inline void throw_error() { throw Error(Fault::kFailed, "broken on purpose"); }
inline void kill_process() { std::raise(SIGKILL); }
inline void stop_process() { std::raise(SIGSTOP); }  // for ever, unless someone sends SIGCONT

}  // namespace cpt::testing
