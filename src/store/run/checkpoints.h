// The checkpoints of a run: blob sets in one folder, numbered in the order in which they were taken.
//
//   FOLDER/000000007/            a checkpoint, complete if and only if it holds a MANIFEST (C1)
//   FOLDER/000000008.tmp-PID/    one that process PID writes
//
// What makes a crash at any moment harmless, a power failure included:
//   C1 A checkpoint gets its number, whole and synced, by one rename.
//   C8 One that goes loses its manifest first, durably, and its files only then. The newest complete one stays.
//
// Only the process that holds the run directory (store/run_directory.h) changes the folder; any may list it.
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

// Whether one that was listed has been removed since, or is being removed: it has no MANIFEST any more (C8). Who fails
// to read one asks this afterwards, because a running job removes its oldest ones at any time.
bool was_removed(const Checkpoint& checkpoint);

// Reads the folder anew with each call. Every call throws Error(kNoInput) if the folder is there but cannot be listed;
// those that remove something, Error(kCannotWrite) that names what cannot be removed or synced.
class Checkpoints {
 public:
  // The folder need not exist.
  explicit Checkpoints(std::filesystem::path folder);

  // The complete ones, by ascending number; whether their blobs are intact is not looked at. Everything else in the
  // folder is ignored.
  std::vector<Checkpoint> list() const;

  // Where a BlobSetWriter puts the next one: its number is beyond that of every entry, finished, half removed or not
  // finished, so that no number is used twice. Error(kCannotWrite) once all numbers are used.
  std::filesystem::path next() const;

  // Removes all but the `keep` newest complete ones, oldest first, and what a crash left of those that were being
  // removed: directories of a lower number than the newest complete one, without MANIFEST and with nothing in them but
  // plain files whose names are those of blobs. Other entries of the folder stay. So does what else lies in a
  // checkpoint (directories, links, hidden files); its directory stays with it, without MANIFEST. keep >= 1,
  // Error(kFailed) otherwise: the newest is never removed. It must have been verified before (C8).
  void prune(std::uint64_t keep) const;

  // Removes all of them, as prune() does: the run that they belong to is over.
  void remove_all() const;

  // Removes what killed processes were writing, "NUMBER.tmp-PID" (and "NUMBER.old.tmp-PID"), that of this process
  // included.
  void remove_leftovers() const;

 private:
  std::vector<std::filesystem::path> entries() const;

  std::filesystem::path folder_;
};

}  // namespace cpt
