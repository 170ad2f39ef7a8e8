// Waits that may take longer, because all ranks do something that is known to take long.
#pragma once

#include <chrono>

#include "comm/communicator.h"

namespace cpt {

// While one of these lives, the stall timeout is so much longer; where the watchdog is off, it stays so.
class StallTimeoutExtension {
 public:
  StallTimeoutExtension(Communicator& comm, std::chrono::milliseconds more)
      : comm_(comm), before_(comm.stall_timeout()) {
    if (before_.count() != 0) comm_.set_stall_timeout(before_ + more);
  }
  ~StallTimeoutExtension() { comm_.set_stall_timeout(before_); }
  StallTimeoutExtension(const StallTimeoutExtension&) = delete;
  StallTimeoutExtension& operator=(const StallTimeoutExtension&) = delete;

 private:
  Communicator& comm_;
  std::chrono::milliseconds before_;
};

}  // namespace cpt
