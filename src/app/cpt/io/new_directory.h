// A directory of results that appears whole or not at all.
#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>

#include "app/cpt/io/removal_on_signal.h"
#include "core/file_descriptor.h"

namespace cpt {

// Where the results are written until they are whole: beside the directory's own name. An empty directory that is there
// already stays the same one, since it may be where somebody stands, a mount point or one with rights of its own: the
// results are written in a folder of it, and then moved up one by one, which a crash may cut short.
class NewDirectory {
 public:
  // Removes what killed processes have left of the same directory. Throws Error(kCannotWrite) where `target` is there
  // already and is not an empty directory, or where nothing can be written beside it or in it. A signal that ends the
  // process removes what was written (see RemovalOnSignal), so threads that write into it are started after this.
  explicit NewDirectory(const std::filesystem::path& target);
  // Without publish(), removes what was written.
  ~NewDirectory();
  NewDirectory(const NewDirectory&) = delete;
  NewDirectory& operator=(const NewDirectory&) = delete;

  const std::filesystem::path& path() const { return path_; }
  // Gives it its name. Once. Throws Error(kCannotWrite) where something has that name by now, and says where the
  // results are: they stay, until somebody makes the same directory.
  void publish();

 private:
  std::filesystem::path target_;
  bool fills_;  // a directory that is there
  std::filesystem::path path_;
  FileDescriptor held_;
  std::optional<RemovalOnSignal> removal_;  // until it is published
};

// Shards in it: "part-007.vw". So many at most, so that their names sort as their numbers do.
inline constexpr std::uint64_t kMostParts = 1000;
std::string part_name(std::uint64_t number, const std::string& ending);

}  // namespace cpt
