// Where the weights are. Partitioned: any number of ranks leaves, to the byte, what one rank leaves.
#include <signal.h>

#include <algorithm>
#include <random>
#include <sstream>
#include <thread>

#include "mpi/job_one_result.h"

namespace cpt::testing {
namespace {

// Labels that pour in, a few of them often; real values and importances; namespaces to cross.
std::string growing_stream(unsigned examples, unsigned seed) {
  std::mt19937 random(seed);
  std::ostringstream text;
  for (unsigned i = 0; i < examples; ++i) {
    const auto label = random() % 3 == 0 ? random() % 5 : random() % (2 + i / 2);
    text << 'l' << label;
    if (random() % 4 == 0) text << ' ' << 1 + random() % 3;
    text << " |a f" << label << " f" << random() % 20 << ':' << random() % 9 << ".25 |b g" << label % 7 << " h"
         << random() % 5 << '\n';
  }
  return text.str();
}

class PartitionedRanks : public OneResultTest, public ::testing::WithParamInterface<int> {
 protected:
  int ranks() const { return GetParam(); }

  // Seven shards of different lengths, one of them empty.
  std::string growing_shards() const {
    for (unsigned i = 0; i < 7; ++i) file("grow/" + std::to_string(i) + ".vw", growing_stream(140 * i, i));
    return path("grow");
  }

  void expect_that_of_one_rank(const Words& more) {
    const std::string test = file("test.vw", growing_stream(400, 99));
    Words words{"--test", test, "--sync-examples", "500"};
    words.insert(words.end(), more.begin(), more.end());
    const Words arguments = train({growing_shards()}, words);
    const Results one = results_on(1, arguments, test);
    EXPECT_GE(one.figures["train"]["examples"], 2940);
    expect_same(results_on(ranks(), arguments, test), one);
  }
};

INSTANTIATE_TEST_SUITE_P(, PartitionedRanks, ::testing::Values(2, 3, 5, 8, kManyRanks), [](const auto& test) {
  return "On" + std::to_string(test.param) + (test.index == 4 ? "AsMost" : "");
});

TEST_P(PartitionedRanks, LeaveWhatOneRankLeaves) { expect_that_of_one_rank({}); }

TEST_P(PartitionedRanks, LeaveWhatOneRankLeavesWithAllOptions) {
  expect_that_of_one_rank({"--passes", "2", "--loss", "squared", "--update", "sgd", "--learning-rate", "0.3", "--alpha",
                           "0.4", "--seed", "9", "--clip", "0", "--interactions", "ab", "--normalize", "l2",
                           "--test-frozen"});
}

using PartitionedJobs = OneResultTest;

TEST_F(PartitionedJobs, AreTheDefault) {
  const std::string test = file("test.vw", stream(50, 5));
  const Results by_default = results_on(3, train({shards()}), test);
  EXPECT_EQ(summary()["options"]["placement"], "partitioned");
  expect_same(results_on(3, train({shards()}, {"--placement", "partitioned"}), test), by_default);
}

// So the test above could fail.
TEST_F(PartitionedJobs, AreNotReplicatedOnes) {
  const std::string test = file("test.vw", stream(50, 5));
  const Results partitioned = results_on(3, train({shards()}), test);
  const Results replicated = results_on(3, train({shards()}, {"--placement", "replicated"}), test);
  EXPECT_NE(replicated.figures["weights"]["digest"], partitioned.figures["weights"]["digest"]);
  EXPECT_NE(replicated.scores, partitioned.scores);
}

TEST_F(PartitionedJobs, TellWhichPartitionsMove) {
  expect_complete(run(3, train({shards()}, {"--sync-examples", "300"})));
  std::size_t moves = 0;
  for (const Json& change : changes_of_owners()) {
    EXPECT_GT(change["busiest_over_mean"], 1.05);
    EXPECT_LE(change["expected_over_mean"], change["busiest_over_mean"]);
    EXPECT_FALSE(change["moves"].empty());
    for (const Json& move : change["moves"]) {
      EXPECT_NE(move["partition"], 0);  // the root's stays
      EXPECT_NE(move["from"], move["to"]);
    }
    moves += change["moves"].size();
  }
  EXPECT_GT(moves, 0U);
  EXPECT_EQ(summary()["balance"]["partitions_moved"], moves);
  const Words lines = log();
  EXPECT_EQ(
      std::ranges::count_if(lines, [](const std::string& line) { return line.find(" partitions move:") != line.npos; }),
      static_cast<std::ptrdiff_t>(changes_of_owners().size()));
}

TEST_F(PartitionedJobs, LeaveReadingToOthersWhereTheRootIsTheLimit) {
  const Outcome all = run(3, train({shards()}));
  expect_complete(all);
  EXPECT_EQ(summary()["balance"]["readers"], 3);
  EXPECT_THAT(all.out, ::testing::Not(::testing::HasSubstr("owners of roots read none")));
  const Outcome others = run(6, train({shards()}));
  expect_complete(others);
  EXPECT_EQ(summary()["balance"]["readers"], 5);
  EXPECT_THAT(others.out, ::testing::HasSubstr("\n  shards went to 5 of 6 ranks: owners of roots read none, because"));
}

struct Slowed {
  const char* name;
  const char* placement;
  int rank;
  int ranks_of_same_result;  // a job of how many ranks, all of them fast, has the same results
};

class SlowedRank : public OneResultTest, public ::testing::WithParamInterface<Slowed> {};

INSTANTIATE_TEST_SUITE_P(, SlowedRank,
                         ::testing::Values(Slowed{"Rank0", "partitioned", 0, 1}, Slowed{"Rank2", "partitioned", 2, 1},
                                           Slowed{"Rank1OfHybrid", "hybrid", 1, 3}),
                         [](const auto& test) { return test.param.name; });

// It stands still again and again, and the others wait for it.
TEST_P(SlowedRank, ChangesNothing) {
  const std::string test = file("test.vw", stream(50, 5));
  const Words arguments = train({shards()}, {"--placement", GetParam().placement, "--passes",
                                             std::to_string(200 / kSlowdown), "--sync-examples", "2000"});
  const Results undisturbed = results_on(GetParam().ranks_of_same_result, arguments, test);

  const auto job = start(3, arguments);
  wait_until_learning();
  const pid_t slowed = job->process_of_rank(GetParam().rank);
  for (int burst = 0; burst < 15; ++burst) {
    ASSERT_EQ(::kill(slowed, SIGSTOP), 0) << "the job was over too soon";
    std::this_thread::sleep_for(std::chrono::milliseconds(40));
    ASSERT_EQ(::kill(slowed, SIGCONT), 0);
    std::this_thread::sleep_for(std::chrono::milliseconds(5));
  }
  expect_complete(job->wait(kLongEnough));
  expect_same(results(test), undisturbed);
}

}  // namespace
}  // namespace cpt::testing
