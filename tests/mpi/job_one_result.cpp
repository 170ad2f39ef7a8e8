#include "mpi/job_one_result.h"

namespace cpt::testing {
Results OneResultTest::results_on(int ranks, const Words& arguments, const std::string& questions,
                                  const Launch& launch) {
  expect_complete(run(ranks, arguments, launch));
  return results(questions);
}

Results OneResultTest::results(const std::string& questions) {
  Results results{.figures = figures(), .reports = reports(), .scores = {}, .predictions = {}};
  const Words asked{"--model", (run_directory() / "model").string(), "--data", questions};
  results.scores = answers({"score", asked[0], asked[1], asked[2], asked[3]});
  results.predictions = answers({"predict", asked[0], asked[1], asked[2], asked[3], "--top", "3"});
  return results;
}

void OneResultTest::expect_same(const Results& a, const Results& b) {
  EXPECT_EQ(a.figures, b.figures);
  EXPECT_EQ(a.reports, b.reports);
  EXPECT_EQ(a.scores, b.scores);
  EXPECT_EQ(a.predictions, b.predictions);
}

std::string OneResultTest::answers(const Words& arguments) {
  Words command{CPT_PROGRAM};
  command.insert(command.end(), arguments.begin(), arguments.end());
  const Outcome outcome = start_command(command)->wait(kLongEnough);
  EXPECT_EQ(outcome.code, 0) << outcome.err;
  EXPECT_FALSE(outcome.out.empty());
  return outcome.out;
}

}  // namespace cpt::testing
