// Jobs that end before their end and go on: what they come to must be what a job that was never stopped comes to.
#pragma once

#include <cstdint>
#include <filesystem>
#include <memory>
#include <string>
#include <vector>

#include "train/partitioned/partitioned_job.h"

namespace cpt {

// Asks for something at the call of that number, counted from 1, on one rank.
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
  // Another shard for those that are there.
  void add_shard(const std::string& name, const std::string& content);

  // Without any checkpoint.
  Outcome straight(int ranks) const;
  // Until it is stopped; what was reported is kept for finish(). All ranks must end alike.
  void run_until(int ranks, const Ask& ask);
  // Until rank 0 fails to report for the n-th time, as a crash would end it; what was reported is dropped.
  void run_until_report(int ranks, std::size_t n);
  // Goes on, to the end, with all reports since the beginning.
  Outcome finish(int ranks);
  // The same while something is asked.
  Outcome finish(int ranks, const Ask& ask);
  // How often a rank can be asked until the end, on so many ranks.
  std::uint64_t calls(int ranks, int rank) const;

  std::filesystem::path checkpoints() const { return *folder_ / "checkpoints"; }

 private:
  TrainingOptions resumable() const;

  std::unique_ptr<Folder> folder_ = std::make_unique<Folder>();
  std::vector<Report> reports_;
};

}  // namespace cpt
