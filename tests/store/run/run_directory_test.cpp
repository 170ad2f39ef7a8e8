#include "store/run/run_directory.h"

#include <gmock/gmock.h>

#include <array>
#include <csignal>

#include "store/run/checkpoints.h"
#include "store/store_fixture.h"

namespace cpt {
namespace {

using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::StartsWith;
using ::testing::UnorderedElementsAre;

struct RunDirectoryTest : ::testing::Test {
  // Two checkpoints, a model, metrics, a log, and what killed processes leave.
  void leave_unfinished_run() const {
    const RunDirectory run(path);
    for (int i = 0; i < 2; ++i) write_set(Checkpoints(run.checkpoints()).next(), {{"tree", noise(10)}});
    write_set(run.model(), {{"tree", noise(10)}}, "cpt model");
    for (const char* name : {"metrics.jsonl", "log.txt", "model.tmp-1"}) write_plain(path / name, noise(1));
    write_set(path / "checkpoints/000000003.tmp-1", {});
  }
  void leave_finished_run() const {
    leave_unfinished_run();
    write_plain(path / "summary.json", noise(1));
  }

  TemporaryDirectory root;
  std::filesystem::path path = root / "runs/ads";
};

// Another process that holds a run directory until it is killed.
class Holder {
 public:
  explicit Holder(const std::filesystem::path& path) {
    std::array<int, 2> ready{};
    if (::pipe(ready.data()) != 0) throw Error(Fault::kFailed, "no pipe");
    process_ = ::fork();
    if (process_ == 0) hold(path, ready[1]);
    ::close(ready[1]);
    char byte = 0;
    holds_ = ::read(ready[0], &byte, 1) == 1;
    ::close(ready[0]);
  }
  Holder(const Holder&) = delete;
  Holder& operator=(const Holder&) = delete;
  ~Holder() { kill(); }

  bool holds() const { return holds_; }
  pid_t process() const { return process_; }
  void kill() {
    if (process_ == -1) return;
    ::kill(process_, SIGKILL);
    ::waitpid(process_, nullptr, 0);
    process_ = -1;
  }

 private:
  [[noreturn]] static void hold(const std::filesystem::path& path, int ready) {
    try {
      const RunDirectory run(path);
      if (::write(ready, "!", 1) == 1) ::pause();
    } catch (...) {
    }
    ::_exit(1);
  }

  pid_t process_ = -1;
  bool holds_ = false;
};

TEST_F(RunDirectoryTest, IsCreatedWithThoseAboveItAndKnowsItsPaths) {
  const RunDirectory run(path);
  EXPECT_TRUE(std::filesystem::is_directory(path));
  EXPECT_EQ(run.path(), path);
  const std::filesystem::path paths[] = {run.lock(),    run.checkpoints(), run.model(),
                                         run.summary(), run.metrics(),     run.log()};
  for (std::size_t i = 0; i < RunDirectory::kNames.size(); ++i) EXPECT_EQ(paths[i], path / RunDirectory::kNames[i]);
}

TEST_F(RunDirectoryTest, OfAnotherHostMustBeWritable) {
  const RunDirectory run(path);
  RunDirectory::require_writable(path);
  EXPECT_THAT(names_in(path), ElementsAre("lock"));
  std::filesystem::create_directory(run.checkpoints());
  RunDirectory::require_writable(path);
  EXPECT_THAT(names_in(run.checkpoints()), ElementsAre());
  const std::filesystem::path no_place = "/proc/self";  // also for root
  EXPECT_THAT(error_of([&] { RunDirectory::require_writable(no_place); }),
              AllOf(StartsWith("73: " + no_place.string() + "/trial"), HasSubstr("open failed")));
}

TEST_F(RunDirectoryTest, ASecondJobIsRefusedWithHostAndProcessOfTheHolderAndTouchesNothing) {
  const Holder holder(path);
  ASSERT_TRUE(holder.holds());
  for (const char* name : {"summary.json", "model.tmp-1"}) write_plain(path / name, noise(1));
  std::array<char, 256> host{};
  ::gethostname(host.data(), host.size() - 1);
  for (const Begin begin : {Begin::kFresh, Begin::kResume}) {
    EXPECT_EQ(error_of([&] { RunDirectory(path, begin); }),
              "73: " + path.string() + ": in use by process " + std::to_string(holder.process()) + " on host " +
                  host.data() + "; wait for it or choose another run directory");
    EXPECT_THAT(names_in(path), UnorderedElementsAre("lock", "summary.json", "model.tmp-1"));
  }
}

TEST_F(RunDirectoryTest, AJobMayWaitForTheEndOfTheHolder) {
  Holder holder(path);
  ASSERT_TRUE(holder.holds());
  std::vector<std::string> told;
  LockWait wait{std::chrono::milliseconds(250), [&](const std::string& reason) { told.push_back(reason); }};
  const std::string in_use = path.string() + ": in use by process " + std::to_string(holder.process()) + " on host ";
  EXPECT_THAT(error_of([&] { RunDirectory(path, Begin::kResume, wait); }), StartsWith("73: " + in_use));
  EXPECT_THAT(told, ElementsAre(AllOf(StartsWith(in_use), HasSubstr("; waiting for its end"))));
  wait.limit = std::chrono::minutes(1);
  wait.tell = [&](const std::string&) { holder.kill(); };
  EXPECT_EQ(error_of([&] { RunDirectory(path, Begin::kResume, wait); }), "no error");
}

TEST_F(RunDirectoryTest, TheLockEndsWithItsHolder) {
  Holder holder(path);
  ASSERT_TRUE(holder.holds());
  holder.kill();
  EXPECT_EQ(error_of([&] { RunDirectory{path}; }), "no error");
  EXPECT_EQ(error_of([&] { RunDirectory{path}; }), "no error");
}

// The model stays, because it is all there is if this run fails.
TEST_F(RunDirectoryTest, NoFiguresAndNoCheckpointsOfAFinishedRunCanBeTakenForThisOnes) {
  leave_finished_run();
  for (const char* name : {"notes.txt", "summary.json.tmp-1"}) write_plain(path / name, noise(1));
  write_set(path / "model.old.tmp-2", {{"tree", noise(10)}});
  const RunDirectory run(path);
  EXPECT_THAT(names_in(path), UnorderedElementsAre("lock", "log.txt", "notes.txt", "checkpoints", "model"));
  EXPECT_THAT(names_in(run.checkpoints()), ElementsAre());
}

TEST_F(RunDirectoryTest, CheckpointsOfAnUnfinishedRunAreNotRemoved) {
  leave_unfinished_run();
  const auto before = names_in(path);
  EXPECT_EQ(error_of([&] { RunDirectory{path}; }),
            "2: " + path.string() +
                ": holds checkpoints of a run that did not finish: add --resume to continue it, or remove " +
                (path / "checkpoints").string() + " to start again");
  EXPECT_EQ(names_in(path), before);
  EXPECT_EQ(names_in(path / "checkpoints").size(), 3U);

  std::filesystem::remove_all(path / "checkpoints");
  const RunDirectory run(path);
  EXPECT_THAT(names_in(path), UnorderedElementsAre("lock", "log.txt", "model"));
}

TEST_F(RunDirectoryTest, WhatIsNoCompleteCheckpointDoesNotRefuseAFreshRun) {
  static_cast<void>(RunDirectory(path));
  std::filesystem::create_directories(path / "checkpoints/000000001");
  write_plain(path / "checkpoints/000000001/tree", noise(1));
  write_plain(path / "checkpoints/notes.txt", noise(1));
  write_set(path / "checkpoints/000000002.tmp-1", {});
  const RunDirectory run(path);
  EXPECT_THAT(names_in(run.checkpoints()), ElementsAre("notes.txt"));
}

TEST_F(RunDirectoryTest, AResumedRunFindsAllButTheLeftovers) {
  leave_finished_run();
  RunDirectory run(path, Begin::kResume);
  EXPECT_THAT(names_in(path),
              UnorderedElementsAre("lock", "log.txt", "metrics.jsonl", "model", "summary.json", "checkpoints"));
  EXPECT_THAT(names_in(run.checkpoints()), ElementsAre("000000001", "000000002"));
  run.begin_resumed();
  run.begin_resumed();
  EXPECT_THAT(names_in(path), UnorderedElementsAre("lock", "log.txt", "metrics.jsonl", "model", "checkpoints"));
}

// Killed between the two renames that put a new model in the place of the old one.
TEST_F(RunDirectoryTest, GivesAModelThatWasSetAsideItsNameBack) {
  for (const Begin begin : {Begin::kFresh, Begin::kResume}) {
    leave_finished_run();
    std::filesystem::rename(path / "model", path / "model.old.tmp-7");
    {
      const RunDirectory run(path, begin);
      EXPECT_THAT(names_in(run.model()), UnorderedElementsAre("MANIFEST", "tree"));
    }
    // Where there is a model, that is the new one.
    write_set(path / "model.old.tmp-7", {{"other", noise(10)}}, "cpt model");
    const RunDirectory run(path, Begin::kResume);
    EXPECT_THAT(names_in(run.model()), UnorderedElementsAre("MANIFEST", "tree"));
    EXPECT_FALSE(std::filesystem::exists(path / "model.old.tmp-7"));
  }
}

TEST_F(RunDirectoryTest, ResumingMayBeTheFirstRun) {
  const RunDirectory run(path, Begin::kResume);
  EXPECT_THAT(names_in(path), ElementsAre("lock"));
}

TEST_F(RunDirectoryTest, NothingThatNoRunWroteIsRemovedOrWrittenOver) {
  for (const char* name :
       {"summary.json", "metrics.jsonl", "log.txt", "model/precious", "checkpoints/000000001/precious"}) {
    std::filesystem::create_directories((path / name).parent_path());
    write_plain(path / name, noise(1));
    const std::set<std::string> before = names_in(path);
    for (const Begin begin : {Begin::kFresh, Begin::kFresh, Begin::kResume}) {  // refused, it is no run's afterwards
      EXPECT_THAT(error_of([&] { RunDirectory(path, begin).begin_fresh(); }),
                  AllOf(StartsWith("73: " + path.string()), HasSubstr("was not written by a run")));
      EXPECT_EQ(names_in(path), before);
      EXPECT_TRUE(std::filesystem::exists(path / name));
    }
    std::filesystem::remove_all(path);
  }
  std::filesystem::create_directories(path);
  write_plain(path / "notes.txt", noise(1));  // that no run writes
  std::filesystem::create_directories(path / "checkpoints");
  std::filesystem::create_symlink(path / "notes.txt", path / "log.txt");
  EXPECT_NO_THROW(RunDirectory{path});
}

// Of the user, or of another program that is at work here.
TEST_F(RunDirectoryTest, TemporaryNamesThatAreNoRunsStay) {
  const std::set<std::string> others{"chapter.tmp-2024", "predictions.txt.tmp-7", "binary.tmp-7"};
  std::filesystem::create_directories(path / "binary.tmp-7/part");
  for (const char* name : {"chapter.tmp-2024", "predictions.txt.tmp-7", "metrics.jsonl.tmp-7"}) {
    write_plain(path / name, noise(1));
  }
  for (const Begin begin : {Begin::kFresh, Begin::kResume}) {
    const RunDirectory run(path, begin);
    std::set<std::string> left = names_in(path);
    left.erase("lock");
    EXPECT_EQ(left, others);
  }
}

TEST_F(RunDirectoryTest, IsInPlaceUntilTheLockIsGone) {
  RunDirectory run(path);
  run.require_in_place();
  std::filesystem::rename(path, root / "moved");
  const std::string gone = "73: " + path.string() + ": the run directory, or the lock in it, was removed or renamed";
  EXPECT_THAT(error_of([&] { run.require_in_place(); }), StartsWith(gone));
  std::filesystem::create_directory(path);
  write_plain(run.lock(), {});  // of another run
  EXPECT_THAT(error_of([&] { run.require_in_place(); }), StartsWith(gone));
}

TEST_F(RunDirectoryTest, MayForOnceNotBeKnownToBeInPlace) {
  RunDirectory run(path);
  const auto hide = [&] {
    std::filesystem::rename(path, root / "moved");
    std::filesystem::create_symlink(path, path);  // it leads to itself, which the system refuses to follow
  };
  const auto show = [&] {
    std::filesystem::remove(path);
    std::filesystem::rename(root / "moved", path);
  };
  for (int i = 0; i < 2; ++i) {
    hide();
    EXPECT_EQ(error_of([&] { run.require_in_place(); }), "no error");
    show();
    EXPECT_EQ(error_of([&] { run.require_in_place(); }), "no error");
  }
  hide();
  EXPECT_EQ(error_of([&] { run.require_in_place(); }), "no error");
  EXPECT_EQ(error_of([&] { run.require_in_place(); }),
            "73: " + run.lock().string() + ": stat failed: Too many levels of symbolic links");
}

TEST_F(RunDirectoryTest, ARunThatNeverBeganLeavesNoLock) {
  { const RunDirectory run(path, Begin::kResume); }
  EXPECT_THAT(names_in(path), ElementsAre());
  { RunDirectory(path, Begin::kResume).begin_resumed(); }
  EXPECT_THAT(names_in(path), ElementsAre("lock"));
  { const RunDirectory run(path, Begin::kResume); }
  EXPECT_THAT(names_in(path), ElementsAre("lock"));
}

TEST_F(RunDirectoryTest, ARunWithoutAModelDoesNotTakeAnothersForIts) {
  leave_finished_run();
  EXPECT_THAT(error_of([&] { RunDirectory(path, Begin::kResume).require_no_model(); }),
              StartsWith("73: " + (path / "model").string() + ": is the model of another run"));
  std::filesystem::remove_all(path / "model");
  EXPECT_NO_THROW(RunDirectory(path, Begin::kResume).require_no_model());
}

// Links that lead to themselves cannot be followed.
TEST_F(RunDirectoryTest, WhatCannotBeExaminedIsNotMissing) {
  leave_finished_run();
  for (const char* name : {"summary.json", "model", "checkpoints"}) {
    std::filesystem::remove_all(path / name);
    std::filesystem::create_symlink(name, path / name);
  }
  const auto reason = [&](const char* name) {
    return "66: " + (path / name).string() + ": stat failed: Too many levels of symbolic links";
  };
  EXPECT_EQ(error_of([&] { RunDirectory::require_unfinished(path); }), reason("summary.json"));
  EXPECT_THAT(error_of([&] { RunDirectory(path, Begin::kResume); }), StartsWith("66: "));
  std::filesystem::remove(path / "checkpoints");
  EXPECT_EQ(error_of([&] { RunDirectory(path, Begin::kResume).require_no_model(); }), reason("model"));
  EXPECT_TRUE(std::filesystem::exists(path / "metrics.jsonl"));
}

TEST_F(RunDirectoryTest, APathBelowAFileCannotBeWritten) {
  write_plain(root / "file", {});
  EXPECT_THAT(error_of([&] { RunDirectory{root / "file/run"}; }), StartsWith("73: " + (root / "file").string()));
  EXPECT_THAT(error_of([&] { RunDirectory{root / "file"}; }), StartsWith("73: " + (root / "file").string()));
}

}  // namespace
}  // namespace cpt
