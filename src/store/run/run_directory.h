// The directory that a run writes, held by one job at a time.
#pragma once

#include <array>
#include <chrono>
#include <filesystem>
#include <functional>
#include <string>

#include "core/file_descriptor.h"

namespace cpt {

// Whether a job starts a new run, without the results of the run before it, or continues that run.
enum class Begin { kFresh, kResume };

// How long to wait for a job that holds the directory. `tell` is called once, with the reason, before the wait.
struct LockWait {
  std::chrono::milliseconds limit{0};
  std::function<void(const std::string&)> tell;
};

// Holds DIRECTORY/lock, a file with the line "HOST PID", from construction to destruction. The lock ends with its
// process, however it ends. The file stays, to show later jobs that a run was here; but a new file is removed again if
// no run began.
class RunLock {
 public:
  // Throws Error(kCannotWrite) if another process holds it at the end of the wait (the message names host and process),
  // or if it cannot be locked.
  explicit RunLock(const std::filesystem::path& directory, const LockWait& wait = {});
  ~RunLock();
  RunLock(const RunLock&) = delete;
  RunLock& operator=(const RunLock&) = delete;

  // Whether there was no lock file before.
  bool is_first() const { return is_first_; }
  void begin_run() { has_begun_ = true; }
  // Throws Error(kCannotWrite) if the file has been removed or renamed, most often with its directory; or if the system
  // could not tell in two calls in a row, since an error of the file system may pass.
  void require_in_place();

 private:
  bool try_to_lock();

  std::filesystem::path directory_;
  std::filesystem::path path_;
  FileDescriptor file_;
  bool is_first_ = false;
  bool has_begun_ = false;
  bool is_in_doubt_ = false;  // since the last require_in_place()
};

// Holds the run directory from construction to destruction. Only one process of a job has this object; the others take
// paths from it.
//
//   DIR/lock             see RunLock
//   DIR/checkpoints/     see store/run/checkpoints.h
//   DIR/model/           a blob set; without a summary.json, possibly that of an earlier run
//   DIR/summary.json     written last: a run without it did not finish
//   DIR/metrics.jsonl
//   DIR/log.txt
class RunDirectory {
 public:
  // Creates the directory if it is missing, and locks it. Begin::kFresh then does what begin_fresh() does.
  // Begin::kResume removes only what killed processes left under temporary names. Throws Error(kCannotWrite) if the
  // directory cannot be created or another job holds it.
  explicit RunDirectory(std::filesystem::path path, Begin begin = Begin::kFresh, const LockWait& wait = {});
  RunDirectory(const RunDirectory&) = delete;
  RunDirectory& operator=(const RunDirectory&) = delete;

  static constexpr std::array<const char*, 6> kNames = {"lock",         "checkpoints",   "model",
                                                        "summary.json", "metrics.jsonl", "log.txt"};
  // For a process that does not hold the run directory but will write parts of checkpoints: creates and removes a file
  // there, since a host may have mounted it read-only. Throws Error(kCannotWrite).
  static void require_writable(const std::filesystem::path& run);
  // For processes that do not hold the run directory, too. is_at() returns whether a run has begun there.
  static bool is_at(const std::filesystem::path& path);
  static std::filesystem::path model(const std::filesystem::path& run) { return run / "model"; }
  // Throws Error(kCannotWrite) if it holds the results of a finished run, which a fresh run would remove.
  static void require_unfinished(const std::filesystem::path& run);

  const std::filesystem::path& path() const { return path_; }
  std::filesystem::path lock() const { return path_ / "lock"; }
  std::filesystem::path checkpoints() const { return path_ / "checkpoints"; }
  std::filesystem::path model() const { return model(path_); }
  std::filesystem::path summary() const { return path_ / "summary.json"; }
  std::filesystem::path metrics() const { return path_ / "metrics.jsonl"; }
  std::filesystem::path log() const { return path_ / "log.txt"; }

  // REMOVES leftovers, and the checkpoints, summary.json and metrics.jsonl of an earlier run, so that nobody takes its
  // figures for those of this run. Its model/ stays until the model of this run replaces it: if this run fails, it is
  // all there is. The writer of log.txt replaces that file. Throws before it removes anything: Error(kCannotWrite) if
  // something that would be removed or overwritten was not left by a run (a run leaves a lock, and a blob set in
  // model/); Error(kUsage) if there is a complete checkpoint of a run that did not finish.
  void begin_fresh();
  // For a resumed run, to be called when it has found its checkpoint and before it learns. Durably removes
  // summary.json: from here on, the run is one that did not finish.
  void begin_resumed();
  // Throws Error(kCannotWrite) if the directory has been removed or renamed since it was locked; see RunLock.
  void require_in_place() { lock_.require_in_place(); }
  // For a run that makes no model, to be called before it begins. Throws Error(kCannotWrite) if there is a model, which
  // users would take for that of this run.
  void require_no_model() const;

 private:
  void require_nothing_to_lose() const;
  void remove_earlier_results() const;
  void remove_leftovers() const;

  std::filesystem::path path_;
  RunLock lock_;
};

}  // namespace cpt
