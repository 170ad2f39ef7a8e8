// Keeps other processes from opening a file.
#pragma once

#include <fcntl.h>
#include <signal.h>

#include <chrono>
#include <filesystem>
#include <thread>

#include "core/file_descriptor.h"

namespace cpt {

// A process that opens the file waits until release(), or until the system breaks the lease after 45 seconds: fcntl(2),
// F_SETLEASE. No other process may have the file open. Not every file system supports leases.
class Lease {
 public:
  explicit Lease(const std::filesystem::path& path) : file_(::open(path.c_str(), O_RDONLY | O_CLOEXEC)) {
    ::fcntl(file_.get(), F_SETSIG, SIGURG);  // sent when a process waits; SIGIO would end this one
    held_ = ::fcntl(file_.get(), F_SETLEASE, F_WRLCK) == 0;
  }

  bool is_held() const { return held_; }
  // Whether a process waits, within half a minute.
  bool is_waited_for() const {
    constexpr int kTimeoutExtension = 30'000;
    for (int i = 0; i < kTimeoutExtension && !is_asked_for(); ++i)
      std::this_thread::sleep_for(std::chrono::milliseconds(1));
    return is_asked_for();
  }
  void release() { ::fcntl(file_.get(), F_SETLEASE, F_UNLCK); }

 private:
  // The system then reports the type that the lease will get.
  bool is_asked_for() const { return ::fcntl(file_.get(), F_GETLEASE) != F_WRLCK; }

  FileDescriptor file_;
  bool held_ = false;
};

}  // namespace cpt
