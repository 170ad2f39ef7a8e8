#include "app/cpt/io/removal_on_signal.h"

#include <pthread.h>

#include <cstdlib>
#include <stop_token>
#include <system_error>
#include <utility>

#include "app/shared/process.h"

namespace cpt {

namespace {

// Sent to the waiting thread alone, so that it sees that nobody needs it any more.
int wake_up_signal() { return SIGRTMIN; }

sigset_t awaited_signals() {
  sigset_t signals;
  sigemptyset(&signals);
  sigaddset(&signals, wake_up_signal());
  for (const int signal : {SIGINT, SIGTERM, SIGHUP}) {
    if (!is_ignored(signal)) sigaddset(&signals, signal);
  }
  return signals;
}

[[noreturn]] void end_by(int signal, const sigset_t& awaited) {
  std::signal(signal, SIG_DFL);
  ::pthread_sigmask(SIG_UNBLOCK, &awaited, nullptr);
  std::raise(signal);
  std::_Exit(EXIT_FAILURE);  // not reached
}

void wait_and_remove(const std::stop_token& stop, const std::filesystem::path& directory, const sigset_t& awaited) {
  int signal = 0;
  ::sigwait(&awaited, &signal);
  if (signal == wake_up_signal() && stop.stop_requested()) return;
  std::error_code ignored;
  std::filesystem::remove_all(directory, ignored);
  end_by(signal, awaited);
}

}  // namespace

RemovalOnSignal::RemovalOnSignal(std::filesystem::path directory) {
  const sigset_t awaited = awaited_signals();
  ::pthread_sigmask(SIG_BLOCK, &awaited, &blocked_before_);
  waiting_ = std::jthread([awaited, directory = std::move(directory)](const std::stop_token& stop) {
    wait_and_remove(stop, directory, awaited);
  });
}

RemovalOnSignal::~RemovalOnSignal() {
  waiting_.request_stop();
  ::pthread_kill(waiting_.native_handle(), wake_up_signal());
  waiting_.join();
  ::pthread_sigmask(SIG_SETMASK, &blocked_before_, nullptr);
}

}  // namespace cpt
