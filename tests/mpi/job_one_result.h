// Jobs on several ranks that must leave what a job on one rank leaves.
#pragma once

#include "mpi/job_fixture.h"

namespace cpt::testing {

// What a run left behind that must not depend on the number of ranks.
struct Results {
  Json figures;               // of the summary: losses, tree, weights
  std::vector<Json> reports;  // the same of what was reported on the way
  std::string scores;         // what `cpt score` says with the model
  std::string predictions;    // what `cpt predict` says
};

class OneResultTest : public JobTest {
 protected:
  // Trains on so many ranks, and asks the model for what is in `questions`.
  Results results_on(int ranks, const Words& arguments, const std::string& questions, const Launch& launch = {});
  // Of the run that has just ended.
  Results results(const std::string& questions);

  static void expect_same(const Results& a, const Results& b);

 private:
  std::string answers(const Words& arguments);
};

}  // namespace cpt::testing
