// A directory of results that appears completely or not at all: it is written under a temporary name, then renamed.
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>

#include "core/file_descriptor.h"

namespace cpt {

class NewDirectory {
 public:
  // Removes the temporary directories that killed processes have left of the same results. Throws Error(kCannotWrite)
  // if `target` exists and is not an empty directory, or if nothing can be written beside it.
  explicit NewDirectory(std::filesystem::path target);
  // Without publish(), removes what was written.
  ~NewDirectory();
  NewDirectory(const NewDirectory&) = delete;
  NewDirectory& operator=(const NewDirectory&) = delete;

  // Where to write.
  const std::filesystem::path& path() const { return path_; }
  // Renames the directory to its final name. Throws Error(kCannotWrite) if something took that name meanwhile; the
  // results then stay where the message says.
  void publish();

 private:
  std::filesystem::path target_;
  std::filesystem::path path_;
  FileDescriptor lock_;  // tells other processes that the temporary directory is in use
};

// The name of a shard in it, such as "part-007.vw". With at most kMostParts of them, names sort like numbers.
inline constexpr std::uint64_t kMostParts = 1000;
std::string part_name(std::uint64_t number, const std::string& ending);

}  // namespace cpt
