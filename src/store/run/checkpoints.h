// The checkpoints of a run: blob sets in one folder, numbered in the order in which they were written.
//
//   FOLDER/000000007/               a checkpoint, complete if and only if it holds a MANIFEST (C1)
//   FOLDER/000000008.tmp-NUMBER/    a checkpoint that a process is writing; see temporary_name()
//
// Two rules make a crash at any moment harmless, power failures included:
//   C1 A checkpoint gets its number, whole and synced, by one rename.
//   C8 A checkpoint that is removed loses its manifest first, durably, and only then its files. The newest complete
//      checkpoint stays.
//
// Only the process that holds the run directory (store/run/run_directory.h) changes the folder; any process may list
// it.
#pragma once

#include <cstdint>
#include <filesystem>
#include <vector>

namespace cpt {

struct Checkpoint {
  std::uint64_t number = 0;  // 1 to 999999999
  std::filesystem::path directory;

  friend bool operator==(const Checkpoint&, const Checkpoint&) = default;
};

// Whether a checkpoint has been removed since it was listed, or is being removed: it has no MANIFEST any more (C8).
// Call it after a failure to read a checkpoint, since a running job may remove its oldest ones at any time.
bool was_removed(const Checkpoint& checkpoint);

// Every call lists the folder anew. It throws Error(kNoInput), which names the path, if the folder exists but cannot be
// listed, or if the system cannot tell whether a checkpoint is complete; and Error(kCannotWrite), which names the path
// too, if something cannot be removed or synced.
class Checkpoints {
 public:
  // The folder need not exist.
  explicit Checkpoints(std::filesystem::path folder);

  // The complete checkpoints, by ascending number. Does not verify their blobs; ignores everything else in the folder.
  std::vector<Checkpoint> list() const;

  // Directories above the newest complete checkpoint that have a checkpoint's number but no MANIFEST, by ascending
  // number. No crash leaves one, except while all are removed: most likely somebody has removed files.
  std::vector<Checkpoint> without_manifest() const;

  // The directory of the next checkpoint, for BlobSetWriter. Its number is above that of every entry, whether finished,
  // unfinished or half removed, so no number is used twice. Creates the folder, but not the directory above it: a run
  // directory that was renamed must not appear again. Throws Error(kCannotWrite) if it cannot, and once all numbers are
  // used.
  std::filesystem::path next() const;

  // Removes complete checkpoints until `keep` are left: first the `unusable` ones, then the oldest. Also removes
  // checkpoints that a crash left half removed: directories with a lower number than the newest complete one, without a
  // MANIFEST, that contain only plain files with names of blobs. Other entries of the folder stay. Directories, links
  // and hidden files inside a checkpoint stay too; its directory then stays without a MANIFEST. Throws Error(kFailed)
  // if keep is 0: the newest is never removed. The caller must have verified the newest (C8).
  void prune(std::uint64_t keep, const std::vector<std::filesystem::path>& unusable = {}) const;

  // Removes all of them, in the manner of prune().
  void remove_all() const;

  // Removes all checkpoints of temporary names, which killed processes left; those of this process too.
  void remove_leftovers() const;

 private:
  std::vector<std::filesystem::path> entries() const;

  std::filesystem::path folder_;
};

}  // namespace cpt
