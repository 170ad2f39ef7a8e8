// The directory that a run writes, held by one job at a time.
#pragma once

#include <filesystem>

#include "store/durable_file.h"

namespace cpt {

// Holds the run directory of a fresh run from construction to destruction. Only one process of a job does so; the
// others take paths from it.
//
//   DIR/lock             "HOST PID" of the holder; the lock on it ends with the process, however that ends
//   DIR/model/           a blob set
//   DIR/summary.json     written last
//   DIR/metrics.jsonl
//   DIR/log.txt
class RunDirectory {
 public:
  // Creates the directory if it is missing, and locks it. Then REMOVES the summary.json, metrics.jsonl and model/ of an
  // earlier run, so that nothing old is taken for what this run came to, and leftovers of killed processes
  // ("NAME.tmp-PID"). log.txt is left to who writes it. Throws Error(kCannotWrite) if the directory cannot be created,
  // if another job holds it (named by host and process), or if model/ is a directory that no run wrote.
  explicit RunDirectory(std::filesystem::path path);
  RunDirectory(const RunDirectory&) = delete;
  RunDirectory& operator=(const RunDirectory&) = delete;

  const std::filesystem::path& path() const { return path_; }
  std::filesystem::path model() const { return path_ / "model"; }
  std::filesystem::path summary() const { return path_ / "summary.json"; }
  std::filesystem::path metrics() const { return path_ / "metrics.jsonl"; }
  std::filesystem::path log() const { return path_ / "log.txt"; }

 private:
  void remove_earlier_results() const;
  void remove_leftovers() const;

  std::filesystem::path path_;
  FileDescriptor lock_;
};

}  // namespace cpt
