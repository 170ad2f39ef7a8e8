// Signals that request a checkpoint or the end of the run.
#pragma once

#include "cpt/trainer.h"

namespace cpt {

// From now on, SIGUSR1 requests a checkpoint, and SIGUSR2 a checkpoint and the end of the run. Call it before MPI
// starts: a rank that a signal ends while MPI starts may leave mpirun waiting forever.
void catch_requests();

// From now on, SIGTERM, SIGHUP and SIGINT request the same as SIGUSR2. Until then they end the process, which has
// nothing to keep. A second SIGINT ends the process. An ignored SIGINT or SIGHUP stays ignored.
void catch_ends();

// Returns and clears the pending request; kStop takes precedence over kCheckpoint.
Request take_request();

// Whether a request to stop is pending.
bool is_stop_requested();

// Restores what SIGTERM, SIGHUP and SIGINT do by default: they end the process. For a process that aborts.
void restore_default_ends();

}  // namespace cpt
