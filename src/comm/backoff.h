// How a rank spends its time while it polls: short waits cost no system call, long ones leave the core to other ranks.
#pragma once

#include <sched.h>

#include <algorithm>
#include <chrono>
#include <thread>

namespace cpt {

// A few microseconds of spinning, then the core is offered to others a few times, then sleeps that grow to a
// millisecond: dozens of ranks may share a core, and the one that is waited for must get it. Many offers would cost
// more than the work where many ranks wait.
class Backoff {
 public:
  void pause() {
    ++pauses_;
    if (pauses_ <= kSpins) return;
    if (pauses_ <= kSpins + kYields) {
      sched_yield();
      return;
    }
    std::this_thread::sleep_for(sleep_);
    sleep_ = std::min(2 * sleep_, kLongestSleep);
  }
  bool sleeping() const { return pauses_ > kSpins + kYields; }

 private:
  static constexpr int kSpins = 30;
  static constexpr int kYields = 10;
  static constexpr std::chrono::nanoseconds kLongestSleep{1'000'000};

  int pauses_ = 0;
  std::chrono::nanoseconds sleep_{50'000};
};

}  // namespace cpt
