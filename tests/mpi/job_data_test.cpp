// Real data: every number of ranks leaves what one rank leaves. The sets lie in the folder CPT_SHARED_DATA, or beside
// the project; see CMakeLists.txt.
#include <unistd.h>

#include <cstdlib>
#include <iostream>

#include "mpi/job_checkpoints.h"
#include "mpi/job_one_result.h"

namespace cpt::testing {
namespace {

namespace fs = std::filesystem;

fs::path data_folder() {
  const char* named = std::getenv("CPT_SHARED_DATA");
  return named != nullptr ? named : CPT_SHARED_DATA_DEFAULT;
}

struct DataSet {
  const char* name;
  const char* ending;
  unsigned examples;         // up to 8 ranks
  unsigned examples_on_all;  // 64 ranks share a few cores: what they wait for each other is most of the time
};

void skip_without_data() {
  const fs::path maker = data_folder() / "make.py";
  if (!fs::exists(maker)) GTEST_SKIP() << "no " << maker.string() << ": say where with CPT_SHARED_DATA";
}

// What makes so many shards with the first examples of a set, in a folder.
Words maker(const char* name, const std::string& out, unsigned examples, int shards) {
  return {"python3",    (data_folder() / "make.py").string(),
          name,         out,
          "--shards",   std::to_string(shards),
          "--examples", std::to_string(examples)};
}

class RealData : public OneResultTest, public ::testing::WithParamInterface<DataSet> {
 protected:
  void SetUp() override { skip_without_data(); }

  // Returns the folder of the shards.
  std::string make(unsigned examples, int shards) {
    const std::string out = path("set" + std::to_string(examples)).string();
    const Outcome outcome = start_command(maker(GetParam().name, out, examples, shards))->wait(kLongEnough);
    EXPECT_EQ(outcome.code, 0) << outcome.err;
    std::cout << outcome.out;
    return out;
  }

  void expect_one_result(unsigned examples, int shards, const std::vector<int>& ranks) {
    const fs::path set = make(examples / kSlowdown, shards);
    const Words arguments = train({set / "train"}, {"--test", set / "test", "--bits", "18"});
    const std::string questions = set / "test" / (std::string("shard-000.") + GetParam().ending);
    const Results one = results_on(1, arguments, questions);
    for (const int count : ranks) {
      SCOPED_TRACE(std::to_string(count) + " ranks");
      expect_same(results_on(count, arguments, questions), one);
    }
  }
};

INSTANTIATE_TEST_SUITE_P(, RealData,
                         ::testing::Values(DataSet{"nvd", "vw", 130'023, 130'023},
                                           DataSet{"novels", "vw", 300'000, 100'000},
                                           DataSet{"rcv1", "libsvm", 27'613, 27'613}),
                         [](const auto& test) { return test.param.name; });

TEST_P(RealData, GiveOneResultOnAFewRanks) { expect_one_result(GetParam().examples, 7, {2, 3, 5, 8}); }

TEST_P(RealData, GiveOneResultOnManyRanks) {
  expect_one_result(GetParam().examples_on_all, 70, {kSlowdown == 1 ? 64 : 16});
}

class ElasticRealData : public CheckpointTest {
 protected:
  void SetUp() override { skip_without_data(); }

  double log_seen() const { return summary()["test"]["log_seen"]; }
  Json counts() const {
    return {summary()["train"]["examples"], summary()["test"]["examples"], summary()["tree"]["labels"]};
  }
};

// Replicas lose accuracy with their number, and a run that had 2, 3 and 1 of them had hardly more than one of 2.
TEST_F(ElasticRealData, IsLearnedOnceAndAsWellByReplicasOfAnyNumber) {
  const fs::path set = path("set");
  const Outcome made = start_command(maker("nvd", set, 40'000 / kSlowdown, 7))->wait(kLongEnough);
  ASSERT_EQ(made.code, 0) << made.err;
  const Words arguments = train({set / "train"}, {"--test", set / "test", "--bits", "18", "--placement", "replicated"});
  expect_complete(run(2, arguments));
  const double of_two = log_seen();
  const Json straight_counts = counts();
  fs::remove_all(run_directory());

  expect_stopped(stop(*start(2, joined(arguments, kManyCheckpoints))));
  expect_stopped(stop(*start(3, joined(arguments, {"--checkpoint-every", "1", "--resume"}))));
  expect_complete(run(1, joined(arguments, {"--resume"})));
  EXPECT_EQ(counts(), straight_counts);
  std::cout << "log_seen " << log_seen() << ", of two ranks " << of_two << "\n";
  EXPECT_LT(log_seen(), 1.02 * of_two);
}

}  // namespace
}  // namespace cpt::testing
