// Requests that reach a run as signals.
#pragma once

#include "cpt/trainer.h"

namespace cpt {

// From construction on, SIGUSR1 asks for a checkpoint, and SIGUSR2, SIGTERM, SIGHUP and SIGINT for one and the end of
// the run, instead of ending the process, which a second SIGINT does. A SIGINT or SIGHUP that is ignored stays so. One
// per process, never destroyed before it ends.
class SignalRequests {
 public:
  SignalRequests();

  // What was asked since the last call; to stop outweighs the rest.
  Request take();
};

// Whether somebody has asked for the end of the run, and nobody has taken that yet.
bool is_asked_to_stop();

// For a process that gives up: nobody takes requests any more, so the next one ends it, as if there had never been
// SignalRequests.
void let_requests_end_the_process();

}  // namespace cpt
