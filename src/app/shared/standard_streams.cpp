#include "app/shared/standard_streams.h"

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>

#include "cpt/error.h"

namespace cpt {

void occupy_closed_streams() {
  for (const int stream : {STDIN_FILENO, STDOUT_FILENO, STDERR_FILENO}) {
    if (::fcntl(stream, F_GETFD) != -1) continue;
    // The lowest free number is this one. Opened the wrong way round, so that reading or writing fails.
    const int taken = ::open("/dev/null", stream == STDIN_FILENO ? O_WRONLY : O_RDONLY);
    if (taken != stream) throw Error(Fault::kFailed, describe_errno("open /dev/null", errno));
  }
}

}  // namespace cpt
