// A job as a user starts it: mpirun with cpt_dist, or cpt_dist alone, as a process of its own that must end in time.
#pragma once

#include <sys/types.h>

#include <chrono>
#include <filesystem>
#include <string>
#include <utility>
#include <vector>

namespace cpt::testing {

std::string content_of(const std::filesystem::path& file);

// How a job ended.
struct Outcome {
  int code = -1;    // 128 + signal if one ended it
  std::string out;  // standard output
  std::string err;  // standard error
};

// Special conditions of the start of a job.
struct Launch {
  std::vector<std::pair<std::string, std::string>> environment = {};
  std::string input = {};                // what standard input holds
  std::filesystem::path output_to = {};  // standard output goes there, not to Outcome::out
  std::vector<int> closed = {};          // standard streams that are closed
};

// Processes of a job are known by a mark in their environment, wherever they hang in the tree of processes: ranks
// survive the end of mpirun if all goes wrong. What is still running when the job should be over fails the test and is
// killed.
class Job {
 public:
  // The process group of the job is its own. What it prints is collected in `folder`, which is the job's alone.
  Job(const std::vector<std::string>& command, const Launch& launch, const std::filesystem::path& folder);
  ~Job();
  Job(const Job&) = delete;
  Job& operator=(const Job&) = delete;

  // The process of mpirun, or of the program alone.
  pid_t process() const { return process_; }
  // The process of a rank under mpirun; waits until it is there.
  pid_t process_of_rank(int rank) const;

  // Whether mpirun, or the program alone, is gone.
  bool has_ended();
  // The test fails if the job is there for longer, or a process of it still `to_vanish` after the job's end; then they
  // are killed.
  Outcome wait(std::chrono::seconds limit, std::chrono::seconds to_vanish = std::chrono::seconds(20 * CPT_SLOWDOWN));
  // Kills all its processes, as the end of the machine would.
  void kill_all() const;

 private:
  std::vector<pid_t> processes() const;

  std::filesystem::path folder_;  // also the mark
  pid_t process_ = -1;
  bool ended_ = false;
  int status_ = 0;
};

}  // namespace cpt::testing
