// By which a job holds its run directory.
#pragma once

#include <filesystem>

#include "core/file_descriptor.h"

namespace cpt {

// Holds DIRECTORY/lock, which tells "HOST PID", from construction to destruction; the lock on it ends with the process,
// however that ends. The file stays, and tells later jobs that a run has been there; but if there was none before, and
// no run has begun, it goes again.
class RunLock {
 public:
  // Throws Error(kCannotWrite) if another process holds it (named by host and process), or if it cannot be locked.
  explicit RunLock(const std::filesystem::path& directory);
  ~RunLock();
  RunLock(const RunLock&) = delete;
  RunLock& operator=(const RunLock&) = delete;

  // Whether there was none before.
  bool is_first() const { return is_first_; }
  void begin_run() { has_begun_ = true; }

 private:
  void lock();

  std::filesystem::path directory_;
  std::filesystem::path path_;
  FileDescriptor file_;
  bool is_first_ = false;
  bool has_begun_ = false;
};

}  // namespace cpt
