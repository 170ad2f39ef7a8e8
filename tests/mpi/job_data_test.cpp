// Real data: every number of ranks leaves what one rank leaves. The sets lie in the folder CPT_SHARED_DATA, or beside
// the project; see CMakeLists.txt.
#include <unistd.h>

#include <cstdlib>
#include <iostream>

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

class RealData : public OneResultTest, public ::testing::WithParamInterface<DataSet> {
 protected:
  void SetUp() override {
    const fs::path maker = data_folder() / "make.py";
    if (!fs::exists(maker)) GTEST_SKIP() << "no " << maker.string() << ": say where with CPT_SHARED_DATA";
  }

  // So many shards with the first examples of the set; returns their folder.
  std::string make(unsigned examples, int shards) {
    const std::string out = path("set" + std::to_string(examples)).string();
    const Outcome outcome = start_command({"python3", (data_folder() / "make.py").string(), GetParam().name, out,
                                           "--shards", std::to_string(shards), "--examples", std::to_string(examples)})
                                ->wait(kLongEnough);
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

}  // namespace
}  // namespace cpt::testing
