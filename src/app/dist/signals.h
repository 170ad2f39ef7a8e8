// Signals that request a checkpoint or the end of the run.
#pragma once

#include "cpt/trainer.h"

namespace cpt {

// After construction, SIGUSR1 requests a checkpoint; SIGUSR2, SIGTERM, SIGHUP and SIGINT request a checkpoint and the
// end of the run. A second SIGINT ends the process. An ignored SIGINT or SIGHUP stays ignored. Create at most one per
// process.
class SignalRequests {
 public:
  SignalRequests();

  // Returns and clears the pending request; kStop takes precedence over kCheckpoint.
  Request take();
};

// Whether a request to stop is pending.
bool is_stop_requested();

// Restores the default actions, so that the next of these signals ends the process. For a process that aborts.
void restore_default_signals();

}  // namespace cpt
