// Jobs that learn from what `cpt convert` made of the shards.
#include <string>

#include "mpi/job_one_result.h"

namespace cpt::testing {
namespace {

using ::testing::HasSubstr;

class BinaryShardsOfAJob : public OneResultTest {
 protected:
  std::string convert(const std::string& folder, const std::string& name, const Words& more = {}) {
    const std::string out = path(name).string();
    const Outcome outcome = start_command(joined({CPT_PROGRAM, "convert", folder, out}, more))->wait(kLongEnough);
    EXPECT_EQ(outcome.code, 0) << outcome.err;
    return out;
  }
};

TEST_F(BinaryShardsOfAJob, GiveTheResultOfTheText) {
  const std::string questions = file("questions", stream(40, 3));
  const std::string test = file("test/0", stream(200, 2));
  const Results text = results_on(1, train({shards()}, {"--test", test}), questions);
  const std::string binary_test = convert(test, "binary-test");
  for (const char* count : {"2", "6", "9"}) {
    const std::string binary = convert(shards(), std::string("binary") + count, {"--shards", count});
    for (const int ranks : {1, 3}) {
      SCOPED_TRACE(std::to_string(ranks) + " ranks, " + count + " shards");
      expect_same(results_on(ranks, train({binary}, {"--test", binary_test}), questions), text);
    }
  }
}

TEST_F(BinaryShardsOfAJob, AreRefusedWhereTheyWereConvertedForOtherRuns) {
  const std::string binary = convert(shards(), "binary", {"--seed", "5"});
  expect_failed(run(2, train({binary})), kUsage, HasSubstr("converted with seed 5; this run reads with seed "));
}

}  // namespace
}  // namespace cpt::testing
