// A disk that loses unsynced changes: it applies the system calls that a program made on a folder, and returns what may
// be left of the folder if the power fails after the last of them.
#pragma once

#include <cstddef>
#include <filesystem>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "file_calls.h"

namespace cpt {

// By path below the folder: the bytes of a file, nullopt for a directory. Directories come before their contents.
using FolderContent = std::map<std::filesystem::path, std::optional<std::vector<std::byte>>>;

// Which unsynced changes are on the disk when the power fails. No order among them is assumed, not even between a
// change that was not synced and a later one, in another directory or file, that was.
struct Survival {
  // kSome: each creation, rename and removal, independently of the others; a rename, or an exchange of two
  // names, is one change.
  enum class Names { kAll, kNone, kSome };
  // kZeroed: the length is there, the bytes are zeros. kSome: one of the others, or half, for each file.
  enum class Bytes { kAll, kNone, kZeroed, kSome };
  Names names = Names::kAll;
  Bytes bytes = Bytes::kAll;
  unsigned seed = 0;  // for kSome
};

class SimulatedDisk {
 public:
  // The folder is empty and synced.
  explicit SimulatedDisk(std::filesystem::path folder);

  // Ignores calls on paths outside the folder. Throws std::logic_error for a call that cannot have succeeded.
  void apply(const FileCall& call);

  FolderContent after_power_failure(const Survival& survival) const;

 private:
  using Names = std::map<std::string, std::size_t>;  // to an index of nodes_
  // Names of one directory that change together: to another node, or to none.
  using NameChange = std::vector<std::pair<std::string, std::optional<std::size_t>>>;

  struct Node {
    bool is_directory = false;
    std::vector<std::byte> bytes;
    std::vector<std::byte> synced_bytes;
    Names names;
    Names synced_names;
    std::vector<NameChange> unsynced;  // leads from synced_names to names
  };

  std::optional<std::filesystem::path> below_folder(const std::filesystem::path& path) const;
  std::size_t find(const std::filesystem::path& below) const;
  void create(const std::filesystem::path& below, bool is_directory);
  void rename(const std::filesystem::path& from, const std::filesystem::path& to);
  void exchange(const std::filesystem::path& one, const std::filesystem::path& other);
  void change(const std::filesystem::path& directory, NameChange change);

  std::filesystem::path folder_;
  std::vector<Node> nodes_;  // the first is the folder; removed ones stay
};

}  // namespace cpt
