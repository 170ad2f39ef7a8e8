// Jobs that are stopped, killed or crash, and are resumed.
#pragma once

#include <signal.h>

#include <cstdint>
#include <filesystem>
#include <map>
#include <string>
#include <vector>

#include "api/checkpoint/run_state.h"
#include "mpi/job_fixture.h"
#include "store/run/checkpoints.h"

namespace cpt::testing {

inline constexpr int kExamples = 1500;  // in JobTest::shards()

// A run that writes as many checkpoints as it can is slow enough to be stopped before its end.
inline const Words kManyCheckpoints{"--checkpoint-every", "1"};

class CheckpointTest : public JobTest {
 protected:
  // Complete ones, oldest first.
  std::vector<Checkpoint> checkpoints() const;
  // Of the newest checkpoint; 0 if there is none.
  std::uint64_t newest() const;
  RunState newest_state() const;
  // Waits until the checkpoint of this number or a later one is there.
  void wait_for_checkpoint(std::uint64_t number) const;
  // Leaves the run directory as a crash right after this checkpoint would have. Metrics are written ahead of
  // checkpoints, so later ones may be there.
  void rewind(std::uint64_t number) const;

  // Ends a job by this signal to one of its processes, when some more checkpoints are there.
  static constexpr int kAskToStop = SIGUSR2;
  Outcome stop(Job& job, pid_t process, int signal);
  Outcome stop(Job& job) { return stop(job, job.process(), kAskToStop); }
  // It was stopped on request: one message, no results, and checkpoints that are whole.
  void expect_stopped(const Outcome& outcome);
  // `cpt checkpoint WHAT RUN...`
  Outcome checkpoint_command(const std::string& what, const Words& more = {});
  void expect_whole_checkpoints();

  // Name and content of all files of the model.
  std::map<std::string, std::string> model_files() const;
};

}  // namespace cpt::testing
