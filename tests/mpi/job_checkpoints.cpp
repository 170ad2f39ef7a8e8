#include "mpi/job_checkpoints.h"

#include <signal.h>

#include "api/checkpoint/checkpoint_reader.h"
#include "mpi/job_waiting.h"

namespace cpt::testing {

namespace fs = std::filesystem;

std::vector<Checkpoint> CheckpointTest::checkpoints() const {
  return Checkpoints(run_directory() / "checkpoints").list();
}

std::uint64_t CheckpointTest::newest() const {
  const std::vector<Checkpoint> all = checkpoints();
  return all.empty() ? 0 : all.back().number;
}

RunState CheckpointTest::newest_state() const { return read_run_state(checkpoints().back().directory); }

void CheckpointTest::wait_for_checkpoint(std::uint64_t number) const {
  wait_until("there is checkpoint " + std::to_string(number), [&] { return newest() >= number; });
}

void CheckpointTest::rewind(std::uint64_t number) const {
  for (const Checkpoint& checkpoint : checkpoints()) {
    if (checkpoint.number > number) fs::remove_all(checkpoint.directory);
  }
  fs::remove(run_directory() / "summary.json");
  fs::remove_all(run_directory() / "model");
  ASSERT_EQ(newest(), number);
}

Outcome CheckpointTest::stop(Job& job, pid_t process, int signal) {
  constexpr std::uint64_t kSome = 3;
  wait_for_checkpoint(newest() + kSome);
  EXPECT_EQ(::kill(process, signal), 0);
  return job.wait(kLongEnough);
}

void CheckpointTest::expect_stopped(const Outcome& outcome) {
  expect_failed(outcome, 75, "cpt_dist: stopped on request, with a checkpoint; start again with --resume");
  EXPECT_FALSE(newest_state().finished) << "the job was over too soon";
  expect_whole_checkpoints();
}

Outcome CheckpointTest::checkpoint_command(const std::string& what, const Words& more) {
  return start_command(joined({CPT_PROGRAM, "checkpoint", what, run_directory().string()}, more))->wait(kSoon);
}

void CheckpointTest::expect_whole_checkpoints() {
  EXPECT_FALSE(checkpoints().empty());
  const Outcome verified = checkpoint_command("verify");
  EXPECT_EQ(verified.code, 0) << verified.out << verified.err;
}

std::map<std::string, std::string> CheckpointTest::model_files() const {
  std::map<std::string, std::string> files;
  const fs::path model = run_directory() / "model";
  for (const auto& entry : fs::recursive_directory_iterator(model)) {
    if (!entry.is_regular_file()) continue;
    files[fs::relative(entry.path(), model)] = content_of(entry.path());
  }
  return files;
}

}  // namespace cpt::testing
