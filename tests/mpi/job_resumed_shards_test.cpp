// The shards of a job that goes on: those that it has begun must be the same, and more may come.
#include <filesystem>

#include "mpi/job_checkpoints.h"

namespace cpt::testing {
namespace {

namespace fs = std::filesystem;

using ::testing::AllOf;
using ::testing::HasSubstr;

class ShardsOfAResumedJob : public CheckpointTest {
 protected:
  // In the middle of the second pass.
  void SetUp() override {
    arguments_ = train({shards()}, {"--passes", "2", "--keep", "100", "--checkpoint-every", "600"});
    expect_complete(run_alone(arguments_));
    straight_ = figures();
    std::uint64_t middle = 0;
    for (const Json& line : checkpoints_told()) {
      ++middle;
      if (line["examples"] > kExamples) break;
    }
    rewind(middle);
    ASSERT_TRUE(newest_state().plan.shard_pass);
    content_ = content_of(shard());
  }

  std::string shard() const { return path("shards/3.vw"); }
  const std::string& content() const { return content_; }
  void write(const std::string& content) const { file("shards/3.vw", content); }

  // On one rank and on several; and goes on once the shard is what it was.
  void expect_refused(int code, const std::string& reason) {
    for (const int ranks : {1, 3}) {
      expect_failed(run(ranks, joined(arguments_, {"--resume"})), code, AllOf(HasSubstr(shard()), HasSubstr(reason)));
    }
    expect_whole_checkpoints();
    write(content_);
    expect_complete(run(2, joined(arguments_, {"--resume"})));
    EXPECT_EQ(figures(), straight_);
  }

 private:
  Words arguments_;
  Json straight_;
  std::string content_;
};

TEST_F(ShardsOfAResumedJob, MustNotVanish) {
  fs::remove(shard());
  expect_refused(kNoInput, "has vanished since the checkpoint");
}

// They were relative to another directory, or have moved.
TEST_F(ShardsOfAResumedJob, AreNamedAsTheRunsOwn) {
  fs::rename(path("shards"), path("moved"));
  const Words resume{"--run", run_directory().string(), "--resume"};
  expect_failed(run(2, resume), kNoInput, HasSubstr("the run started with it, in another directory perhaps"));
  expect_failed(run(2, joined(resume, {"--data", path("shards/*.vw").string()})), kNoInput,
                Not(HasSubstr("started with")));
  fs::rename(path("moved"), path("shards"));
  expect_complete(run(2, resume));
}

TEST_F(ShardsOfAResumedJob, MustNotGrow) {
  write(content() + "l1 |a f1\n");
  expect_refused(kBadData, "has grown since the checkpoint, it has " + std::to_string(content().size() + 9) +
                               " bytes, but had " + std::to_string(content().size()) +
                               "; put what is new into shards of its own");
}

class MoreShards : public CheckpointTest, public ::testing::WithParamInterface<int> {
 protected:
  int ranks() const { return GetParam(); }
  std::string more() const { return file("shards/6.vw", stream(170, 6)); }
};

INSTANTIATE_TEST_SUITE_P(, MoreShards, ::testing::Values(1, 3),
                         [](const auto& test) { return "On" + std::to_string(test.param); });

// Whether they come before or after the end of the run that they add to, the model is the same: they are learned after
// what was there. The figures are those of one run, or of two.
TEST_P(MoreShards, FollowThoseThatAreUnderWay) {
  const Words arguments = train({shards()}, {"--checkpoint-every", "600", "--keep", "100"});
  expect_complete(run(ranks(), arguments));
  const fs::path finished = path("finished");
  fs::copy(run_directory(), finished, fs::copy_options::recursive);
  rewind(1);
  ASSERT_TRUE(newest_state().plan.shard_pass);
  more();

  expect_complete(run(ranks(), joined(arguments, {"--resume"})));
  const Json before = figures();
  EXPECT_EQ(before["train"]["examples"], kExamples + 170);

  fs::remove_all(run_directory());
  fs::rename(finished, run_directory());
  expect_complete(run(ranks(), joined(arguments, {"--resume"})));
  EXPECT_EQ(figures()["train"]["examples"], 170);
  EXPECT_EQ(figures()["tree"], before["tree"]);
  EXPECT_EQ(figures()["weights"], before["weights"]);
}

class ContinualTraining : public CheckpointTest {
 protected:
  Outcome resume(const Words& more = {}) {
    return run(2, joined({"--run", run_directory().string(), "--resume"}, more));
  }
  std::string test() const { return file("test.vw", stream(300, 99)); }
};

TEST_F(ContinualTraining, DoesNothingIfNothingIsNew) {
  expect_complete(run(2, train({shards()}, {"--test", test()})));
  const Json straight = figures();
  const auto model = model_files();
  const std::vector<Json> told = reports();
  for (const Words& words : {Words{}, Words{"--passes", "1"}}) {
    const Outcome outcome = resume(words);
    expect_complete(outcome);
    EXPECT_EQ(lines_of(outcome.out).at(0), "nothing to do: the run was finished, and there is no new shard");
    EXPECT_THAT(outcome.out, ::testing::Not(::testing::HasSubstr("per second")));
    EXPECT_EQ(figures(), straight);
    EXPECT_EQ(model_files(), model);
    EXPECT_EQ(reports(), told);
  }
}

// What it has learned from it is no test any more.
TEST_F(ContinualTraining, DoesNotLearnTheTestTwice) {
  expect_complete(run(2, train({shards()}, {"--test", test()})));
  file("shards/6.vw", stream(170, 6));
  expect_complete(resume());
  EXPECT_EQ(figures()["train"]["examples"], 170);
  EXPECT_FALSE(figures().contains("test"));
}

// The same as from files, day after day.
TEST_F(ContinualTraining, TakesStandardInputEachDay) {
  Launch day;
  day.input = stream(400, 1);
  expect_complete(run_alone(train({"-"}), day));
  day.input = stream(250, 2);
  expect_complete(run_alone(train({"-"}, {"--resume"}), day));
  EXPECT_EQ(figures()["train"]["examples"], 250);
  const Json piped = figures();

  fs::remove_all(run_directory());
  const Words first{file("days/1.vw", stream(400, 1))};
  expect_complete(run_alone(train({path("days")})));
  file("days/2.vw", stream(250, 2));
  expect_complete(run_alone(train({path("days")}, {"--resume"})));
  EXPECT_EQ(figures(), piped);
}

}  // namespace
}  // namespace cpt::testing
