#include "app/dist/signals.h"

#include <csignal>
#include <cstring>

#include "app/shared/process.h"

namespace cpt {

namespace {

// Globals, because a signal handler can access nothing else.
volatile std::sig_atomic_t checkpoint_requested = 0;
volatile std::sig_atomic_t stop_requested = 0;

void request_checkpoint(int) { checkpoint_requested = 1; }
void request_stop(int) { stop_requested = 1; }
// The next SIGINT ends the process.
void request_stop_once(int signal) {
  stop_requested = 1;
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

void catch_requests() {
  handle(SIGUSR1, request_checkpoint);
  handle(SIGUSR2, request_stop);
}

void catch_ends() {
  handle(SIGTERM, request_stop);
  if (!is_ignored(SIGHUP)) handle(SIGHUP, request_stop);
  if (!is_ignored(SIGINT)) handle(SIGINT, request_stop_once);
}

bool is_stop_requested() { return stop_requested != 0; }

void restore_default_ends() {
  handle(SIGTERM, SIG_DFL);
  for (const int signal : {SIGHUP, SIGINT}) {
    if (!is_ignored(signal)) handle(signal, SIG_DFL);
  }
}

Request take_request() {
  const Request request = stop_requested != 0         ? Request::kStop
                          : checkpoint_requested != 0 ? Request::kCheckpoint
                                                      : Request::kNone;
  if (request == Request::kStop) stop_requested = 0;
  if (request != Request::kNone) checkpoint_requested = 0;
  return request;
}

}  // namespace cpt
