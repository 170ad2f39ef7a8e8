// Run directories that cannot be written: exit code 73, whatever the reason.
#include <cstdlib>
#include <utility>
#include <vector>

#include "mpi/job_disk.h"
#include "mpi/job_fixture.h"

namespace cpt::testing {
namespace {

namespace fs = std::filesystem;

using ::testing::AllOf;
using ::testing::HasSubstr;

class RunDirectoryOfAJob : public JobTest {
 protected:
  void expect_refused(const ::testing::Matcher<std::string>& reason) {
    for (const int ranks : {1, 3}) expect_failed(start(ranks, train({shards()}))->wait(kSoon), kCannotWrite, reason);
  }
};

TEST_F(RunDirectoryOfAJob, CannotBeAFile) {
  file("run", "not a folder");
  expect_refused(HasSubstr(run_directory().string() + ": is not a directory"));
}

TEST_F(RunDirectoryOfAJob, NeedsAName) {
  expect_failed(run_alone({"--data", shards(), "--run", ""}), kUsage, HasSubstr("--run is empty"));
}

// What the first run wrote there would be shards of the second.
TEST_F(RunDirectoryOfAJob, CannotBeAFolderOfShards) {
  for (const char* option : {"--data", "--test"}) {
    const Words words{"--data", file("shard.vw", stream(50)), option, shards(), "--run", shards() + "/../shards"};
    expect_failed(
        run_alone(words), kUsage,
        HasSubstr(" lies where " + std::string(option) + " " + shards() + " would read the files of the run"));
    EXPECT_FALSE(fs::exists(shards() + "/lock"));
  }
}

TEST_F(RunDirectoryOfAJob, CannotBeAModel) {
  const std::string model = path("first").string() + "/model";
  ASSERT_EQ(run_alone({"--data", shards(), "--run", path("first").string()}).code, 0);
  expect_failed(run_alone({"--data", shards(), "--run", model}), kUsage, HasSubstr(model + " is a model"));
}

TEST_F(RunDirectoryOfAJob, HoldsNoData) {
  const std::string run = path("first").string();
  ASSERT_EQ(run_alone({"--data", shards(), "--run", run}).code, 0);
  for (const char* option : {"--data", "--test"}) {
    const auto with = [&](const std::string& folder) {
      return run_alone({"--data", shards(), option, folder, "--run", path("other").string()});
    };
    expect_failed(with(run), kUsage, HasSubstr(std::string(option) + " " + run + " is a run directory, not data"));
    expect_failed(with(run + "/model"), kUsage, HasSubstr(run + "/model is a model or a checkpoint, not data"));
  }
}

// Already before there is one that the pattern could find.
TEST_F(RunDirectoryOfAJob, CannotLieWhereAPatternFindsShards) {
  const std::string run = shards() + "/r";
  fs::create_symlink(shards(), path("link"));
  for (const std::string& pattern : {shards() + "/*", path("link").string() + "/[pqr]/", run + "/*", run + "/log.*"}) {
    for (const char* begin : {"--progress=none", "--resume"}) {
      expect_failed(run_alone({"--data", pattern, "--run", run + "/", begin}), kUsage,
                    HasSubstr(" lies where --data " + pattern + " would read"));
      EXPECT_FALSE(fs::exists(run));
    }
  }
  expect_failed(run_alone({"--data", "./not-there*", "--run", "not-there-yet"}), kUsage,
                HasSubstr("as shards: choose another directory"));
}

TEST_F(RunDirectoryOfAJob, MayLieWhereNoPatternFindsWhatItHolds) {
  const std::vector<std::pair<const char*, const char*>> cases = {{"/*", "/.r"}, {"", "/r"}, {"/*.vw", ""}};
  for (const auto& [pattern, run] : cases) {
    const Words words{"--data", shards() + pattern, "--run", shards() + run, "--overwrite"};
    for (int i = 0; i < 2; ++i) EXPECT_EQ(run_alone(words).code, 0) << pattern << " and " << run;
  }
}

TEST_F(RunDirectoryOfAJob, CannotLieWhereNothingMayBeWritten) {
  fs::create_directory(run_directory());
  const auto command = as_plain_user(joined({CPT_DIST}, train({shards()})));
  if (!command) GTEST_SKIP() << "another user cannot run cpt_dist here, and root may write everywhere";
  fs::permissions(run_directory(), fs::perms{0555});
  expect_failed(start_command(*command)->wait(kSoon), kCannotWrite, HasSubstr("Permission denied"));
}

// A host may have mounted it read-only: not a failure for the first checkpoint, hours later.
TEST_F(RunDirectoryOfAJob, MustBeWritableOnEveryHost) {
  if (std::system("unshare --mount --uts true 2>/dev/null") != 0) GTEST_SKIP() << "hosts cannot be made here";
  fs::create_directory(run_directory());
  const Words other_host{"unshare",
                         "--mount",
                         "--uts",
                         "sh",
                         "-c",
                         R"(hostname other-host && mount --bind "$0" "$0" && mount -o remount,ro,bind "$0" && "$@")",
                         run_directory().string()};
  const auto outcome_with = [&](const Words& more) {
    const Words job = joined({CPT_DIST}, train({shards()}, more));
    const Words on_both = joined(joined(joined({CPT_MPIEXEC, "-n", "1"}, job), {":", "-n", "1"}), other_host);
    return start_command(joined(on_both, job))->wait(kSoon);
  };
  expect_failed(
      outcome_with({}), kCannotWrite,
      AllOf(HasSubstr("rank 1 on other-host: " + run_directory().string() + "/"), HasSubstr("Read-only file system")));
  expect_complete(outcome_with({"--checkpoint-every", "never"}));
}

TEST_F(RunDirectoryOfAJob, MustHoldTheLog) {
  fs::create_directory(run_directory());
  fs::create_symlink("/dev/full", run_directory() / "log.txt");
  expect_refused(AllOf(HasSubstr("log.txt"), HasSubstr("No space left on device")));
}

// A mistyped path is found before the results of an earlier run are cleared away.
TEST_F(RunDirectoryOfAJob, KeepsItsResultsIfThereIsNothingToLearn) {
  for (const int ranks : {1, 3}) {
    expect_complete(run(ranks, train({shards()})));
    EXPECT_EQ(run(ranks, train({path("nowhere").string()})).code, 66);
    EXPECT_EQ(run(ranks, train({shards()}, {"--test", path("nowhere").string()})).code, 66);
    EXPECT_EQ(run(2, train({"-"})).code, 2);
    expect_complete();
  }
}

// What fails later costs its figures, but not its model: that goes only when there is another.
TEST_F(RunDirectoryOfAJob, KeepsItsModelIfTrainingFails) {
  expect_complete(run(2, train({shards()})));
  const std::string before = model_manifest();
  ASSERT_FALSE(before.empty());
  for (const int ranks : {1, 2}) {
    EXPECT_EQ(run(ranks, train({file("rotten.vw", "this is | no:line\n")})).code, 65);
    EXPECT_EQ(model_manifest(), before);
    EXPECT_EQ(run(ranks, train({file("empty.vw", "")})).code, 65);
    EXPECT_EQ(model_manifest(), before);
  }
  expect_complete(run(1, train({file("other.vw", stream(10))})));
  EXPECT_NE(model_manifest(), before);
}

// Otherwise hours of training would end in a directory without metrics, or in none.
TEST_F(RunDirectoryOfAJob, MustStayInItsPlace) {
  for (const char* placement : {"partitioned", "replicated", "hybrid"}) {
    for (const int ranks : {1, 3}) {
      const auto job = start(ranks, train({shards()}, {"--passes", "100000", "--placement", placement}));
      wait_until_learning();
      fs::rename(run_directory(), path("elsewhere"));
      const Outcome outcome = job->wait(kSoon);
      EXPECT_EQ(outcome.code, kCannotWrite);
      // A checkpoint or another file that is written just then notices it first.
      EXPECT_THAT(
          reasons_in(outcome),
          ::testing::ElementsAre(::testing::AnyOf(
              HasSubstr(run_directory().string() + ": the run directory, or the lock in it, was removed or renamed"),
              HasSubstr((run_directory() / "checkpoints").string()),
              HasSubstr(run_directory().string() + ": open failed: No such file or directory"))));
      EXPECT_FALSE(fs::exists(run_directory()));
      fs::remove_all(path("elsewhere"));
    }
  }
}

TEST_F(RunDirectoryOfAJob, MustHaveRoomForTheModel) {
  const Disk disk(run_directory(), "size=256k");
  if (!disk.mounted()) GTEST_SKIP() << "a small file system cannot be mounted here: " << disk.reason();
  file("run/filler", std::string(240 << 10, 'x'));
  expect_refused(HasSubstr("No space left on device"));
  for (const auto& entry : fs::directory_iterator(run_directory())) {
    EXPECT_EQ(entry.path().filename().string().find(".tmp-"), std::string::npos) << entry.path();
  }
}

}  // namespace
}  // namespace cpt::testing
