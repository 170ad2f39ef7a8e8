#include "app/shared/process.h"

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <cstdio>
#include <cstring>
#include <new>

namespace cpt {

int report_failure(const char* program, const std::exception& error, const std::string& memory_hint) {
  const bool no_memory = dynamic_cast<const std::bad_alloc*>(&error) != nullptr;
  std::string reason = no_memory ? "out of memory" : describe(error);
  if (no_memory && !memory_hint.empty()) reason += "; " + memory_hint;
  std::fprintf(stderr, "%s: %s\n", program, reason.c_str());
  std::fflush(stderr);
  return exit_code(fault_of(error));
}

void occupy_closed_streams() {
  for (const int stream : {STDIN_FILENO, STDOUT_FILENO, STDERR_FILENO}) {
    if (::fcntl(stream, F_GETFD) != -1) continue;
    // open() returns the lowest free descriptor, which is `stream`. The wrong access mode makes its use fail.
    const int taken = ::open("/dev/null", stream == STDIN_FILENO ? O_WRONLY : O_RDONLY);
    if (taken != stream) throw Error(Fault::kFailed, describe_errno("open /dev/null", errno));
  }
}

bool is_ignored(int signal) {
  struct sigaction action;
  std::memset(&action, 0, sizeof action);
  return ::sigaction(signal, nullptr, &action) == 0 && action.sa_handler == SIG_IGN;
}

}  // namespace cpt
