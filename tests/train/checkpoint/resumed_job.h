// Jobs that are stopped and resumed: their results must be those of a job that was never stopped.
#pragma once

#include <cstdint>
#include <filesystem>
#include <memory>
#include <string>
#include <vector>

#include "train/partitioned/partitioned_job.h"

namespace cpt {

// A request that one rank makes when it is asked for the n-th time, counted from 1.
struct Ask {
  Request request = Request::kStop;
  int rank = 0;
  std::uint64_t call = 1;
};

// A job whose checkpoints lie in a folder of its own.
class ResumedJob {
 public:
  ResumedJob();

  TrainingOptions options;

  void add_data(const std::vector<std::string>& shards);
  void set_test(const std::vector<std::string>& shards);
  // Adds a shard to those of add_data().
  void add_shard(const std::string& name, const std::string& content);

  // Runs without checkpoints.
  Outcome straight(int ranks) const;
  // Runs until the request stops the job; keeps the reports for finish(). All ranks must end alike.
  void run_until(int ranks, const Ask& ask);
  // Runs until rank 0 fails at its n-th report, which ends the job as a crash would; drops the reports.
  void run_until_report(int ranks, std::size_t n);
  // Resumes and runs to the end; the outcome has all reports since the beginning.
  Outcome finish(int ranks);
  // The same with a request.
  Outcome finish(int ranks, const Ask& ask);
  // How often a rank is asked until the end of a run.
  std::uint64_t calls(int ranks, int rank) const;

  // The options of a run that writes checkpoints, and starts from the last one.
  TrainingOptions resumable() const;
  std::filesystem::path checkpoints() const { return *folder_ / "checkpoints"; }

 private:
  std::unique_ptr<Folder> folder_ = std::make_unique<Folder>();
  std::vector<Report> reports_;
};

}  // namespace cpt
