// Jobs whose ranks read parts of files.
#include <string>

#include "data/packed.h"
#include "mpi/job_one_result.h"

namespace cpt::testing {
namespace {

using ::testing::Contains;
using ::testing::HasSubstr;
using ::testing::Not;

class SplitFiles : public OneResultTest {};

TEST_F(SplitFiles, AreSharedByRanksAndGiveOneResult) {
  const std::string questions = file("questions", stream(40, 3));
  const std::string packed = file("packed.gz", gzip(stream(100, 4)));
  const Words arguments = train({file("one.vw", stream(900)), packed}, {"--split", "4"});
  const Results one = results_on(1, arguments, questions);
  EXPECT_EQ(one.figures["train"]["examples"], 1000);
  EXPECT_EQ(summary()["options"]["split"], "4");
  EXPECT_THAT(log(), Contains(HasSubstr("warning " + packed + ": --split leaves it whole, since it is compressed")));
  expect_same(results_on(3, arguments, questions), one);
  EXPECT_THAT(log(), Not(Contains(HasSubstr("nothing to read"))));
}

}  // namespace
}  // namespace cpt::testing
