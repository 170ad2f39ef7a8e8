// A disk that loses what was not synced: it is told of the calls that a program makes on a folder, and says what may be
// left of the folder if the power fails after the last of them.
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

// Path below the folder -> the bytes of a file, nothing for a directory. Directories come before what they hold.
using FolderContent = std::map<std::filesystem::path, std::optional<std::vector<std::byte>>>;

// What of the unsynced changes is on the disk when the power fails. No order among them is assumed, not even between a
// change that was not synced and a later one, in another directory or file, that was.
struct Survival {
  // kSome: each creation, rename and removal, independently of the others; a rename is one change.
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

  // Calls on paths outside the folder do nothing. std::logic_error for what cannot have succeeded.
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
  void change(const std::filesystem::path& directory, NameChange change);

  std::filesystem::path folder_;
  std::vector<Node> nodes_;  // the first is the folder; what is removed stays
};

}  // namespace cpt
