// An error of one rank ends the whole job: one reason, told once, one exit code, no results.
#include "mpi/job_fixture.h"

namespace cpt::testing {
namespace {

using ::testing::AllOf;
using ::testing::EndsWith;
using ::testing::HasSubstr;
using ::testing::MatchesRegex;
using ::testing::StartsWith;

// Shards of falling size, so that rank r reads the r-th; the last one has this content.
class FailingShard : public JobTest {
 protected:
  Words sound_shards() const { return {file("0.vw", stream(400, 1)), file("1.vw", stream(300, 2))}; }
  // The outcome of a job of three ranks whose rank 2 reads this shard, and that of rank 0 alone.
  Outcome on_rank_2(const std::string& shard) {
    Words data = sound_shards();
    data.push_back(shard);
    return start(3, train(data))->wait(kSoon);
  }
  Outcome alone(const std::string& shard) { return start(1, train({shard}))->wait(kSoon); }
};

TEST_F(FailingShard, WithABadLine) {
  const std::string shard = file("bad.vw", stream(150) + "l1 |a f:nan\n" + stream(50));
  const std::string reason = shard +
                             ":151:9: expected a number of at most 1e30 in size, found 'nan'; the line was read "
                             "as vw, like 'label |page word word2:0.5'; --format chooses another format";
  expect_failed(on_rank_2(shard), kBadData,
                AllOf(MatchesRegex("cpt_dist: rank 2 on [^ ]+: .*"), EndsWith(": " + reason)));
  EXPECT_THAT(log().back(), AllOf(HasSubstr(" error rank 2 on "), EndsWith(reason)));
  expect_failed(alone(shard), kBadData, ::testing::Eq("cpt_dist: " + reason));
}

// It can be opened by its owner, but there is nothing at its begin.
TEST_F(FailingShard, ThatCannotBeRead) {
  expect_failed(on_rank_2("/proc/self/mem"), kNoInput,
                MatchesRegex("cpt_dist: rank 2 on [^ ]+: /proc/self/mem: read failed: Input/output error"));
  expect_failed(alone("/proc/self/mem"), kNoInput, StartsWith("cpt_dist: /proc/self/mem: read failed"));
}

TEST_F(FailingShard, ThatNobodyMayRead) {
  const std::string shard = file("secret.vw", stream(100));
  Words data = sound_shards();
  data.push_back(shard);
  const auto command = as_plain_user(joined({CPT_MPIEXEC, "-n", "3", CPT_DIST}, train(data)));
  if (!command) GTEST_SKIP() << "another user cannot run cpt_dist here, and root may read everything";
  std::filesystem::permissions(shard, std::filesystem::perms::none);
  expect_failed(start_command(*command)->wait(kSoon), kNoInput, HasSubstr(shard + ": open failed: Permission denied"));
}

TEST_F(FailingShard, ThatIsALinkToItself) {
  const std::filesystem::path link = path("loop.vw");
  std::filesystem::create_symlink(link, link);
  expect_failed(on_rank_2(link.string()), kNoInput, HasSubstr("no input at '" + link.string() + "'"));
}

TEST_F(FailingShard, ThatIsMissing) {
  const std::string nowhere = path("nowhere").string();
  const std::string reason = "no input at '" + nowhere + "': there is no such file";
  expect_failed(on_rank_2(nowhere), kNoInput, AllOf(MatchesRegex("cpt_dist: rank 0 on [^ ]+: .*"), HasSubstr(reason)));
  expect_failed(alone(nowhere), kNoInput, ::testing::Eq("cpt_dist: " + reason));
}

using TooLargeATable = JobTest;

TEST_F(TooLargeATable, IsRefusedAtTheStartWithTheNumbers) {
  for (const int ranks : {1, 3}) {
    expect_failed(start(ranks, train({shards()}, {"--bits", "40"}))->wait(kSoon), 1,
                  AllOf(HasSubstr("the weight table of 2^40 rows takes 65536.0 GiB of this machine's memory"),
                        HasSubstr(" GiB are free: --bits ")));
  }
}

using Divergence = JobTest;

// Errors are bounded, so the weights are.
TEST_F(Divergence, DoesNotFollowFromAnAbsurdRateAlone) {
  const Words more{"--loss", "squared", "--update", "sgd", "--learning-rate", "1e12", "--passes", "5"};
  for (const int ranks : {1, 3}) {
    expect_complete(run(ranks, train({shards()}, more)));
    EXPECT_TRUE(summary()["train"]["log"].is_number());
  }
}

// Another file under the name of a shard, as a job that makes the data again leaves it.
class ShardThatChanges : public JobTest {
 protected:
  void replace(const std::string& content) const {
    file("new.vw", content);
    std::filesystem::rename(path("new.vw"), path("shards/3.vw"));
  }
};

TEST_F(ShardThatChanges, BetweenTwoPassesEndsTheJob) {
  for (const int ranks : {1, 3}) {
    for (const bool is_shorter : {false, true}) {
      const auto job = start(ranks, train({shards()}, {"--passes", "100000"}));
      wait_until_learning();
      replace(is_shorter ? stream(10) : stream(900, 77));
      expect_failed(job->wait(kSoon), kBadData,
                    AllOf(HasSubstr(path("shards/3.vw").string() + ": has changed since the job started, it "),
                          HasSubstr(is_shorter ? "bytes, but had" : "begins with other bytes")));
      EXPECT_TRUE(std::filesystem::exists(run_directory() / "checkpoints"));
      std::filesystem::remove_all(run_directory());
    }
  }
}

TEST_F(ShardThatChanges, MayBeOneThatIsValidated) {
  const std::string validation = file("validation.vw", stream(100, 9));
  const auto job = start(2, train({shards()}, {"--passes", "100000", "--validate", validation}));
  wait_until_learning();
  file("new.vw", stream(100, 10));
  std::filesystem::rename(path("new.vw"), validation);
  expect_failed(job->wait(kSoon), kBadData, HasSubstr(validation + ": has changed since the job started"));
}

TEST_F(ShardThatChanges, MayGrow) {
  constexpr int kPasses = 60;
  const auto job = start(2, train({shards()}, {"--passes", std::to_string(kPasses)}));
  wait_until_learning();
  replace(stream(260, 3) + stream(10, 4));
  EXPECT_FALSE(job->has_ended()) << "too early to see anything";
  expect_complete(job->wait(kLongEnough));
  EXPECT_EQ(summary()["train"]["examples"], 1500 * kPasses) << "lines of the shard as it was";
}

}  // namespace
}  // namespace cpt::testing
