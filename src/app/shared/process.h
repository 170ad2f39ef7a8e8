// How both programs start and end as processes: exit codes, standard streams, inherited signals.
#pragma once

#include <exception>
#include <string>

#include "cpt/error.h"

namespace cpt {

// 0 means success, so no fault has it.
constexpr int exit_code(Fault fault) { return static_cast<int>(fault); }

// Prints "PROGRAM: reason" on standard error, with the chain of causes in one line, and returns the exit code.
// `memory_hint`: advice to add if memory ran out; may be empty.
int report_failure(const char* program, const std::exception& error, const std::string& memory_hint = "");

// Call it first in main. A file that is opened while a standard stream is closed gets the stream's descriptor: messages
// would then go into a model, or a socket of MPI would be read as input. After this call, using a closed stream fails,
// and no file gets its descriptor. Throws Error(kFailed).
void occupy_closed_streams();

// Whether the parent process made this one ignore a signal, as shells do with SIGINT for background jobs and nohup with
// SIGHUP.
bool is_ignored(int signal);

}  // namespace cpt
