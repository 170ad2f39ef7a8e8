// Jobs whose ranks read parts of files.
#include <string>

#include "data/packed.h"
#include "mpi/job_one_result.h"

namespace cpt::testing {
namespace {

using ::testing::AllOf;
using ::testing::Contains;
using ::testing::EndsWith;
using ::testing::HasSubstr;
using ::testing::Not;

constexpr int kBadData = 65;

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

TEST_F(SplitFiles, AreProposedWhereRanksHaveNothingToRead) {
  const Outcome outcome = run(3, train({file("one.vw", stream(100))}));
  expect_complete(outcome);
  EXPECT_THAT(lines_of(outcome.err),
              Contains("cpt_dist: warning: 2 of 3 ranks have nothing to read; --split 3 lets ranks "
                       "share a file"));
}

TEST_F(SplitFiles, CallABadLineByItsByteInTheFile) {
  const std::string text = stream(900);
  const std::string one = file("one.vw", text + "l1 |a x:bad\n");
  expect_failed(run(2, train({one}, {"--split", "2"})), kBadData,
                AllOf(HasSubstr(one + ": byte " + std::to_string(text.size() + 8) + ": expected a number"),
                      EndsWith("found 'bad'")));
}

}  // namespace
}  // namespace cpt::testing
