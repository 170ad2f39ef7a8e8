// Ranks wait longer for who writes to a disk than for a message.
#include "mpi/job_fixture.h"

namespace cpt::testing {
namespace {

using SlowDisk = JobTest;

// The run directory is made durable at the start, and again after the model and after the summary.
TEST_F(SlowDisk, IsWaitedFor) {
  Words command{CPT_MPIEXEC,
                "-n",
                "2",
                "env",
                std::string("LD_PRELOAD=") + CPT_SLOW_SYNC_LIBRARY,
                "CPT_SLOW_SYNC=" + run_directory().string(),
                CPT_DIST};
  const Words arguments = train({shards()}, {"--stall-timeout", "2s", "--checkpoint-every", "never"});
  expect_complete(start_command(joined(command, arguments))->wait(kLongEnough));
  EXPECT_EQ(std::filesystem::file_size(path("run.slow")), 4U);
}

}  // namespace
}  // namespace cpt::testing
