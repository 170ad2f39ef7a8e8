// The system calls by which this program changes files and directories. A test cannot cause a power failure, so it
// watches these calls instead: file_calls.cpp defines them, in place of the C library.
#pragma once

#include <cstddef>
#include <filesystem>
#include <functional>
#include <vector>

namespace cpt {

struct FileCall {
  enum class Kind {
    kCreate,         // or truncate an existing file
    kMakeDirectory,  //
    kWrite,          // `bytes` from `offset` on
    kCut,            // to `offset` bytes
    kSync,           // a file or a directory
    kRename,         // to `target`
    kExchange,       // its name with `target`, in one step
    kLink,           // a file, under the new name `target`
    kRemove,         // a file or an empty directory
  };
  Kind kind{};
  std::filesystem::path path;  // absolute
  std::filesystem::path target;
  std::size_t offset = 0;
  std::vector<std::byte> bytes;
};

// During its lifetime, passes every successful call to `watch`, in order. One at a time.
class FileCallWatcher {
 public:
  explicit FileCallWatcher(std::function<void(const FileCall&)> watch);
  FileCallWatcher(const FileCallWatcher&) = delete;
  FileCallWatcher& operator=(const FileCallWatcher&) = delete;
  ~FileCallWatcher();
};

// During its lifetime, syncs of the files and directories that `fails` selects fail, as on a broken disk. One at a
// time.
class FailingSyncs {
 public:
  explicit FailingSyncs(std::function<bool(const std::filesystem::path&)> fails);
  FailingSyncs(const FailingSyncs&) = delete;
  FailingSyncs& operator=(const FailingSyncs&) = delete;
  ~FailingSyncs();
};

// During its lifetime, no names can be exchanged, as on a file system without RENAME_EXCHANGE. One at a time.
class NoExchanges {
 public:
  NoExchanges();
  NoExchanges(const NoExchanges&) = delete;
  NoExchanges& operator=(const NoExchanges&) = delete;
  ~NoExchanges();
};

// During its lifetime, no file can be linked, as on a file system without hard links. One at a time.
class NoLinks {
 public:
  NoLinks();
  NoLinks(const NoLinks&) = delete;
  NoLinks& operator=(const NoLinks&) = delete;
  ~NoLinks();
};

}  // namespace cpt
