#include "data/source/open_files.h"

#include <sys/resource.h>

#include <cerrno>
#include <string>

#include "cpt/error.h"

namespace cpt {
namespace {

// For what else the process has open: libraries, sockets and shared memory of MPI, logs, checkpoints.
constexpr rlim_t kReserve = 128;

}  // namespace

void allow_open_files(std::size_t count, const std::string& advice) {
  rlimit limit{};
  if (::getrlimit(RLIMIT_NOFILE, &limit) != 0) throw Error(Fault::kFailed, describe_errno("getrlimit", errno));
  const rlim_t wanted = count + kReserve;
  if (limit.rlim_cur >= wanted) return;
  if (limit.rlim_max < wanted) {
    throw Error(Fault::kFailed, std::to_string(count) + " shards must be kept open, but no more than " +
                                    std::to_string(limit.rlim_max) + " files may be open (" + std::to_string(kReserve) +
                                    " of them are kept for other uses); raise the limit (ulimit -Hn), or " + advice);
  }
  // To the hard limit at once, so that a second stream beside this one has room too.
  limit.rlim_cur = limit.rlim_max;
  if (::setrlimit(RLIMIT_NOFILE, &limit) != 0) throw Error(Fault::kFailed, describe_errno("setrlimit", errno));
}

}  // namespace cpt
