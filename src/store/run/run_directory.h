// The directory that a run writes, held by one job at a time.
#pragma once

#include <array>
#include <filesystem>

#include "store/run/run_lock.h"

namespace cpt {

// What a job does with the results of the run before it: starts anew without them, or goes on where it stopped.
enum class Begin { kFresh, kResume };

// Holds the run directory of a run from construction to destruction. Only one process of a job does so; the others take
// paths from it.
//
//   DIR/lock             see store/run_lock.h
//   DIR/checkpoints/     see store/checkpoints.h
//   DIR/model/           a blob set: of this run where there is a summary.json, else perhaps of an earlier one
//   DIR/summary.json     written last: a run without it did not finish
//   DIR/metrics.jsonl
//   DIR/log.txt
class RunDirectory {
 public:
  // Creates the directory if it is missing and locks it. Begin::kFresh is then the same as begin_fresh();
  // Begin::kResume removes leftovers of killed processes, what a run had under a temporary name, and leaves all else.
  // Throws Error(kCannotWrite) if the directory cannot be created or if another job holds it (named by host and
  // process).
  explicit RunDirectory(std::filesystem::path path, Begin begin = Begin::kFresh);
  RunDirectory(const RunDirectory&) = delete;
  RunDirectory& operator=(const RunDirectory&) = delete;

  // What lies in it.
  static constexpr std::array<const char*, 6> kNames = {"lock",         "checkpoints",   "model",
                                                        "summary.json", "metrics.jsonl", "log.txt"};
  // For processes that do not hold the run directory. is_at: whether a run has begun there.
  static bool is_at(const std::filesystem::path& path);
  static std::filesystem::path model(const std::filesystem::path& run) { return run / "model"; }
  // Throws Error(kCannotWrite) if a finished run has its results there, which a fresh run would remove.
  static void require_unfinished(const std::filesystem::path& run);

  const std::filesystem::path& path() const { return path_; }
  std::filesystem::path lock() const { return path_ / "lock"; }
  std::filesystem::path checkpoints() const { return path_ / "checkpoints"; }
  std::filesystem::path model() const { return model(path_); }
  std::filesystem::path summary() const { return path_ / "summary.json"; }
  std::filesystem::path metrics() const { return path_ / "metrics.jsonl"; }
  std::filesystem::path log() const { return path_ / "log.txt"; }

  // REMOVES leftovers, and the checkpoints, summary.json and metrics.jsonl of an earlier run, so that none of its
  // figures is taken for this run's; its model/ stays until this run's takes its place, because it is all that there is
  // if this run fails. log.txt is left to who writes it. Throws, before anything is removed, Error(kCannotWrite) if
  // anything of what it would remove or write over was not left by a run (which leaves a lock, and a blob set in
  // model/), and Error(kUsage) if there is a complete checkpoint of a run that did not finish.
  void begin_fresh();
  // For a resumed run, when it has found the checkpoint that it goes on from and before it learns: from here on it is a
  // run that did not finish, without a summary.json. Durable.
  void go_on();
  // For a run that makes no model, before it begins: an earlier one's would be taken for its own. Throws
  // Error(kCannotWrite) if there is one.
  void require_no_model() const;

 private:
  void require_nothing_to_lose() const;
  void remove_earlier_results() const;
  void remove_leftovers() const;

  std::filesystem::path path_;
  RunLock lock_;
};

}  // namespace cpt
