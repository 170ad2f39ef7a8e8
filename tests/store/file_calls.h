// The system calls by which this program changes files and directories. A power failure cannot be staged in a test, so
// these calls are watched instead: file_calls.cpp defines them, and so stands before the C library.
#pragma once

#include <cstddef>
#include <filesystem>
#include <functional>
#include <vector>

namespace cpt {

struct FileCall {
  enum class Kind {
    kCreate,         // or cut to nothing what is there
    kMakeDirectory,  //
    kWrite,          // `bytes` from `offset` on
    kCut,            // to `offset` bytes
    kSync,           // a file or a directory
    kRename,         // to `target`
    kLink,           // a file, which gets the name `target` too
    kRemove,         // a file or an empty directory
  };
  Kind kind{};
  std::filesystem::path path;  // absolute
  std::filesystem::path target;
  std::size_t offset = 0;
  std::vector<std::byte> bytes;
};

// Hands every call that succeeds to `watch` while it lives, in the order in which they are made. One at a time.
class FileCallWatcher {
 public:
  explicit FileCallWatcher(std::function<void(const FileCall&)> watch);
  FileCallWatcher(const FileCallWatcher&) = delete;
  FileCallWatcher& operator=(const FileCallWatcher&) = delete;
  ~FileCallWatcher();
};

// While it lives, syncs of the files and directories that `fails` picks fail, as those of a broken disk do. One at a
// time.
class FailingSyncs {
 public:
  explicit FailingSyncs(std::function<bool(const std::filesystem::path&)> fails);
  FailingSyncs(const FailingSyncs&) = delete;
  FailingSyncs& operator=(const FailingSyncs&) = delete;
  ~FailingSyncs();
};

// While it lives, no file gets a second name, as on a file system that cannot do that. One at a time.
class NoLinks {
 public:
  NoLinks();
  NoLinks(const NoLinks&) = delete;
  NoLinks& operator=(const NoLinks&) = delete;
  ~NoLinks();
};

}  // namespace cpt
