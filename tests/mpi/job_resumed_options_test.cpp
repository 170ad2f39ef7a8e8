// The command line of a job that goes on: what may change, what may not, and what it need not say again.
#include <filesystem>

#include "mpi/job_checkpoints.h"

namespace cpt::testing {
namespace {

namespace fs = std::filesystem;

using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::StartsWith;

class ResumedCommandLine : public CheckpointTest {
 protected:
  // Without mpirun, since all ranks see the same words.
  void SetUp() override {
    begun_ = {"--alpha", "0.7", "--seed", "5", "--passes", "3", "--test", file("test.vw", stream(300, 99))};
    expect_complete(run_alone(train({shards()}, joined(begun_, {"--keep", "100"}))));
    straight_ = figures();
    rewind(2);
  }

  Words run_option() const { return {"--run", run_directory().string()}; }
  Outcome resume(const Words& words) { return run_alone(joined(joined(run_option(), {"--resume"}), words)); }

  void expect_refused(const Words& words, const std::string& option, const std::string& now, const std::string& then) {
    SCOPED_TRACE(option);
    expect_failed(resume(words), kUsage,
                  AllOf(StartsWith("cpt_dist: --" + option + " is " + now + ", but the run in "),
                        HasSubstr(" was started with " + then + ": ")));
    EXPECT_EQ(newest(), 2U);
  }
  void expect_accepted(const Words& words) {
    expect_complete(resume(words));
    EXPECT_EQ(figures(), straight_);
  }
  const Json& straight() const { return straight_; }

 private:
  Words begun_;
  Json straight_;
};

TEST_F(ResumedCommandLine, MustNotChangeWhatTheRunIs) {
  expect_refused({"--alpha", "0.8"}, "alpha", "0.8", "0.7");
  expect_refused({"--bits", "13"}, "bits", "13", "12");
  expect_refused({"--seed", "6"}, "seed", "6", "5");
  expect_refused({"--placement", "replicated"}, "placement", "replicated", "partitioned");
  expect_refused({"--test-frozen"}, "test-frozen", "true", "false");
  expect_refused({"--format", "vw"}, "format", "vw", "auto");
  expect_refused({"--split", "2"}, "split", "2", "1");
  expect_refused({"--interactions", "ab"}, "interactions", "ab", "none");
  expect_refused({"--sync-fraction", "0.5"}, "sync-fraction", "0.5", "auto");
}

TEST_F(ResumedCommandLine, IsComparedOnceForAllRanks) {
  const Outcome outcome = run(3, joined(run_option(), {"--resume", "--alpha", "0.8"}));
  EXPECT_EQ(outcome.code, kUsage);
  EXPECT_THAT(reasons_in(outcome), ElementsAre(HasSubstr("--alpha is 0.8, but the run in ")));
}

TEST_F(ResumedCommandLine, NeedNotSayAnythingAgain) { expect_accepted({}); }

TEST_F(ResumedCommandLine, MaySayTheSameAgain) {
  expect_accepted({"--alpha", "0.70", "--seed", "5", "--bits", "12", "--data", path("shards"), "--passes", "3"});
}

TEST_F(ResumedCommandLine, MayChangeHowOftenTheRunIsKept) {
  expect_accepted({"--checkpoint-every", "400", "--keep", "1", "--sync-fraction", "auto", "--bits", "auto"});
  EXPECT_EQ(checkpoints().size(), 1U);
}

TEST_F(ResumedCommandLine, MayNameTheSameShardsInOtherWords) { expect_accepted({"--data", path("shards") / "*.vw"}); }

TEST_F(ResumedCommandLine, LosesNoMetricsThatItCannotRead) {
  fs::remove(run_directory() / "metrics.jsonl");
  fs::create_directory(run_directory() / "metrics.jsonl");
  expect_failed(resume({}), kNoInput, HasSubstr("metrics.jsonl: "));
  EXPECT_TRUE(fs::is_directory(run_directory() / "metrics.jsonl"));
}

// Ranks must not cut the path of a checkpoint at a line end.
TEST_F(ResumedCommandLine, MayHaveALineEndInTheRunPath) {
  const fs::path odd = path("two\nlines");
  fs::rename(run_directory(), odd);
  for (const int ranks : {1, 2}) {
    SCOPED_TRACE(ranks);
    const Outcome outcome = run(ranks, {"--run", odd.string(), "--resume"});
    EXPECT_EQ(outcome.code, 0) << outcome.err;
    EXPECT_TRUE(fs::exists(odd / "summary.json"));
  }
}

class BeginningOrGoingOn : public CheckpointTest {};

// As a batch script does that appends --resume to the command of the first start.
TEST_F(BeginningOrGoingOn, MayNameTheFileOfLabelsAgain) {
  std::string labels;
  for (int label = 0; label < kLabels; ++label) labels += "l" + std::to_string(label) + "\n";
  const Words words = train({shards()}, {"--method", "pecoc", "--labels", file("labels.txt", labels)});
  expect_complete(run_alone(words));
  expect_complete(run_alone(joined(words, {"--resume"})));
}

// One bad line must not cost the run: what was learned before it stays good.
TEST_F(BeginningOrGoingOn, MayPassOverALineThatEndedTheRun) {
  const std::string bad = file("bad.vw", stream(20000, 5) + "l1 |a f:nan\n" + stream(300, 6));
  for (const int ranks : {1, 3}) {
    SCOPED_TRACE(ranks);
    fs::remove_all(run_directory());
    expect_complete(run(ranks, train({bad}, {"--on-error", "skip"})));
    const Json straight = figures();
    fs::remove_all(run_directory());
    EXPECT_EQ(run(ranks, train({bad}, {"--checkpoint-every", "1000"})).code, kBadData);
    EXPECT_GT(newest(), 1U);
    expect_failed(run(ranks, train({bad}, {"--resume"})), kBadData, HasSubstr("bad.vw:20001:9: "));
    expect_complete(run(ranks, train({bad}, {"--resume", "--on-error", "skip:1"})));
    EXPECT_EQ(figures(), straight);
  }
}

TEST_F(BeginningOrGoingOn, BeginsWhereThereIsNoCheckpoint) {
  const Outcome outcome = run(2, train({shards()}, {"--resume"}));
  expect_complete(outcome);
  EXPECT_EQ(summary()["train"]["examples"], kExamples);
  EXPECT_THAT(outcome.err, HasSubstr(run_directory().string() + " has no checkpoint to resume: starting a new run\n"));
}

TEST_F(BeginningOrGoingOn, NeedsDataToBegin) {
  for (const int ranks : {1, 3}) {
    expect_failed(run(ranks, {"--run", run_directory().string(), "--resume"}), kUsage,
                  HasSubstr("--data is missing, and " + run_directory().string() + " has no checkpoint"));
    EXPECT_FALSE(fs::exists(run_directory()));
  }
}

// Only a run that did not finish has something to lose.
TEST_F(BeginningOrGoingOn, DoesNotBeginOverCheckpointsThatCannotBeExamined) {
  expect_complete(run(2, train({shards()})));
  fs::remove(run_directory() / "summary.json");
  const fs::path manifest = checkpoints().back().directory / "MANIFEST";
  fs::remove(manifest);
  fs::create_symlink("MANIFEST", manifest);  // it leads to itself
  fs::create_directory(run_directory() / "model.tmp-1");
  const auto before = content_of(run_directory() / "metrics.jsonl") + content_of(run_directory() / "lock");
  expect_failed(run(2, train({shards()}, {"--resume"})), kNoInput, HasSubstr(manifest.string() + ": stat failed"));
  EXPECT_EQ(content_of(run_directory() / "metrics.jsonl") + content_of(run_directory() / "lock"), before);
  EXPECT_TRUE(fs::exists(run_directory() / "model.tmp-1"));
}
TEST_F(BeginningOrGoingOn, LeavesTheFiguresOfAFinishedRun) {
  expect_complete(run(2, train({shards()})));
  const auto figures_files = [&] {
    return content_of(run_directory() / "summary.json") + content_of(run_directory() / "metrics.jsonl");
  };
  const std::string before = figures_files();
  const Outcome outcome = run_alone(train({shards()}, {"--resume"}));
  EXPECT_THAT(outcome.out, HasSubstr("nothing to do"));
  expect_complete(outcome);
  EXPECT_EQ(figures_files(), before);
  fs::remove(run_directory() / "summary.json");  // as if it had been killed before it wrote them
  expect_complete(run_alone(train({shards()}, {"--resume"})));
}
TEST_F(BeginningOrGoingOn, RemovesCheckpointsThatCannotBeUsedFirst) {
  expect_complete(run(2, train({shards()}, {"--checkpoint-every", "300", "--round-examples", "30", "--keep", "4"})));
  const std::vector<Checkpoint> listed = checkpoints();
  ASSERT_GE(listed.size(), 3U);
  const Checkpoint& damaged = listed.back();
  fs::resize_file(damaged.directory / "state", 1);
  const Outcome outcome = run(2, train({shards()}, {"--resume", "--checkpoint-every", "1h", "--keep", "2"}));
  EXPECT_THAT(outcome.err, HasSubstr("warning: a checkpoint cannot be used: "));
  expect_complete(outcome);
  const std::vector<Checkpoint> left = checkpoints();
  ASSERT_EQ(left.size(), 2U);
  EXPECT_EQ(left.front().number, damaged.number - 1);
  EXPECT_EQ(left.back().number, damaged.number + 1);
}
TEST_F(BeginningOrGoingOn, DoesNotBeginOverARunThatDidNotFinish) {
  expect_complete(run(2, train({shards()}, {"--passes", "2"})));
  const Json straight = figures();
  rewind(1);
  expect_failed(run(2, train({shards()})), kUsage,
                AllOf(HasSubstr(run_directory().string()), HasSubstr("add --resume"), HasSubstr("checkpoints")));
  EXPECT_EQ(newest(), 1U);
  EXPECT_FALSE(metrics().empty());
  expect_complete(run(2, train({shards()}, {"--resume"})));
  EXPECT_EQ(figures(), straight);
  expect_complete(run(2, train({shards()})));
  EXPECT_EQ(summary()["train"]["examples"], kExamples);
}

}  // namespace
}  // namespace cpt::testing
