// cpt_dist --dry-run: what a run would read and need, and the errors of a start.
#include "mpi/job_fixture.h"

namespace cpt::testing {
namespace {

using ::testing::AllOf;
using ::testing::ContainsRegex;
using ::testing::HasSubstr;
using ::testing::Not;

class DryRun : public JobTest {
 protected:
  Outcome dry(int ranks, const Words& more = {}) {
    Words words{"--data", shards(), "--run", run_directory().string(), "--dry-run"};
    return run(ranks, joined(words, more));
  }
};

TEST_F(DryRun, TellsWhatTheRunWouldReadAndNeed) {
  const std::string test = file("test/0.vw", stream(300, 99));
  const Outcome outcome = dry(2, {"--bits", "12", "--test", test});
  EXPECT_EQ(outcome.code, 0) << outcome.err;
  EXPECT_EQ(outcome.err, "");
  EXPECT_THAT(
      outcome.out,
      AllOf(ContainsRegex("\ndata: 6 shards, 0\\.[0-9] MiB, about 1,500 examples\n  rank 0: 3 shards, .*\n  rank "
                          "1: 3 shards, .*\ntest: 1 shard, .*about 300 examples\n"),
            HasSubstr("\nformat: vw\nfirst line: " + shards() + "/0.vw:1 '"),
            ContainsRegex("\n  label l[0-9]+, importance 1, 3 features: .*a\\^f[0-9]+:1"),
            ContainsRegex("\nweights: 2\\^12 rows\nmemory: up to 0\\.[0-9] MiB a rank for weights, "),
            ContainsRegex("\ndisk: up to .* a checkpoint, 3 of them at a time, of .* that are free in ")));
  EXPECT_FALSE(std::filesystem::exists(run_directory()));
}

TEST_F(DryRun, ChoosesTheBitsOfTheRun) {
  const Outcome told = dry(1);
  expect_complete(run(1, {"--data", shards(), "--run", run_directory().string()}));
  EXPECT_THAT(told.out,
              HasSubstr("\nweights: 2^" + std::to_string(summary()["weights"]["bits"].get<int>()) + " rows\n"));
  const Outcome refused = dry(2);
  EXPECT_EQ(refused.code, kCannotWrite);
  EXPECT_THAT(refused.err, HasSubstr("holds the results of a finished run"));
}

TEST_F(DryRun, FailsAsTheRunWould) {
  EXPECT_EQ(dry(2, {"--test", path("none").string()}).code, kNoInput);
  const Outcome bad = dry(2, {"--test", file("bad/0.vw", "l1 |a f:x\n")});
  EXPECT_EQ(bad.code, kBadData);
  EXPECT_THAT(bad.err, HasSubstr("bad/0.vw:1:"));
  EXPECT_FALSE(std::filesystem::exists(run_directory()));
}

TEST_F(DryRun, GivesTheWarningsOfAStart) {
  const std::string one = file("one/0.vw", stream(50, 1));
  const Words words{"--data", one, "--test", one, "--merge", "average", "--run", run_directory().string()};
  const Outcome outcome = run(3, joined(words, {"--dry-run"}));
  EXPECT_EQ(outcome.code, 0) << outcome.err;
  const auto warns = AllOf(HasSubstr("warning: --merge has no effect here"), HasSubstr("as --data and as --test"),
                           HasSubstr("2 of 3 ranks have nothing to read"));
  EXPECT_THAT(outcome.err, warns);
  EXPECT_THAT(run(3, words).err, warns);
}

TEST_F(DryRun, OfAResumedRunNeedsNoShardThatIsDone) {
  const std::string old = file("days/1.vw", stream(50, 1));
  expect_complete(run(1, {"--data", old, "--run", run_directory().string()}));
  std::filesystem::remove(old);
  const Words more{"--data", file("days/2.vw", stream(70, 2)), "--run", run_directory().string(), "--resume"};
  const Outcome outcome = run(1, joined(more, {"--dry-run"}));
  EXPECT_EQ(outcome.code, 0) << outcome.err;
  EXPECT_THAT(outcome.out, AllOf(HasSubstr("\ndata: 1 shard, "), HasSubstr("days/2.vw:1 ")));
  expect_complete(run(1, more));
}

TEST_F(DryRun, WarnsIfTheDiskMayBeTooSmall) {
  const Words many{"--bits", "12", "--keep", "1000000000000"};
  const auto warns = AllOf(HasSubstr("warning: checkpoints may take up to "), HasSubstr(" are free in "));
  EXPECT_THAT(dry(2, many).err, warns);
  EXPECT_THAT(run(2, joined({"--data", shards(), "--run", run_directory().string()}, many)).err, warns);
}

TEST_F(DryRun, OfAPipeReadsNothing) {
  const Outcome outcome = run_alone({"--data", "-", "--run", run_directory().string(), "--dry-run"});
  EXPECT_EQ(outcome.code, 0) << outcome.err;
  EXPECT_THAT(outcome.out, AllOf(HasSubstr("an unknown number of examples in a pipe"),
                                 HasSubstr("format: unknown, because a pipe cannot be read twice")));
}

}  // namespace
}  // namespace cpt::testing
