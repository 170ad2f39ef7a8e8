#include "app/dist/signals.h"

#include <csignal>
#include <cstring>

#include "app/shared/process.h"

namespace cpt {

namespace {

// Globals, because a signal handler can reach nothing else.
volatile std::sig_atomic_t checkpoint_asked = 0;
volatile std::sig_atomic_t stop_asked = 0;

void ask_for_checkpoint(int) { checkpoint_asked = 1; }
void ask_to_stop(int) { stop_asked = 1; }
// The next SIGINT ends the process.
void ask_to_stop_once(int signal) {
  stop_asked = 1;
  std::signal(signal, SIG_DFL);
}

void handle(int signal, void (*handler)(int)) {
  struct sigaction action;
  std::memset(&action, 0, sizeof action);
  action.sa_handler = handler;
  action.sa_flags = SA_RESTART;
  ::sigaction(signal, &action, nullptr);
}

}  // namespace

SignalRequests::SignalRequests() {
  handle(SIGUSR1, ask_for_checkpoint);
  handle(SIGUSR2, ask_to_stop);
  handle(SIGTERM, ask_to_stop);
  if (!is_ignored(SIGHUP)) handle(SIGHUP, ask_to_stop);
  if (!is_ignored(SIGINT)) handle(SIGINT, ask_to_stop_once);
}

bool is_asked_to_stop() { return stop_asked != 0; }

void let_requests_end_the_process() {
  for (const int signal : {SIGUSR1, SIGUSR2, SIGTERM}) handle(signal, SIG_DFL);
  for (const int signal : {SIGHUP, SIGINT}) {
    if (!is_ignored(signal)) handle(signal, SIG_DFL);
  }
}

Request SignalRequests::take() {
  if (stop_asked != 0) {
    stop_asked = 0;
    checkpoint_asked = 0;
    return Request::kStop;
  }
  if (checkpoint_asked == 0) return Request::kNone;
  checkpoint_asked = 0;
  return Request::kCheckpoint;
}

}  // namespace cpt
