// What is unfinished does not stay where a user gives up waiting for it.
#pragma once

#include <csignal>
#include <filesystem>
#include <thread>

namespace cpt {

// While it exists, a SIGINT, SIGTERM or SIGHUP that is not ignored removes a directory before it ends the process,
// which it does as ever, whatever the other threads wait for. It is a thread that does it, for a handler may not:
// construct it before other threads are started, since they, too, must leave these signals to it. One at a time.
class RemovalOnSignal {
 public:
  explicit RemovalOnSignal(std::filesystem::path directory);
  ~RemovalOnSignal();
  RemovalOnSignal(const RemovalOnSignal&) = delete;
  RemovalOnSignal& operator=(const RemovalOnSignal&) = delete;

 private:
  sigset_t blocked_before_;
  std::jthread waiting_;
};

}  // namespace cpt
