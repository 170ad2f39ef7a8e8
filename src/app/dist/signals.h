// Signals that ask a run for a checkpoint or to stop.
#pragma once

#include "cpt/trainer.h"

namespace cpt {

// From construction on, SIGUSR1 asks for a checkpoint; SIGUSR2, SIGTERM, SIGHUP and SIGINT ask for a checkpoint and the
// end of the run instead of ending the process, which a second SIGINT does. An ignored SIGINT or SIGHUP stays ignored.
// One per process, never destroyed before the process ends.
class SignalRequests {
 public:
  SignalRequests();

  // The request since the last call; stopping outweighs a checkpoint.
  Request take();
};

// Whether a request to stop has arrived and was not taken yet.
bool is_asked_to_stop();

// For a process that aborts: restores the default actions, so that the next such signal ends it.
void let_requests_end_the_process();

}  // namespace cpt
