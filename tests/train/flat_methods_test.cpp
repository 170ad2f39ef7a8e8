// Methods that are no trees, as jobs: on any number of ranks, kept and taken up again.
#include <gmock/gmock.h>

#include "train/checkpoint/resumed_job.h"

namespace cpt {
namespace {

Lines lines(std::uint64_t seed, std::size_t examples, std::size_t first_label = 0) {
  return {.seed = seed, .examples = examples, .labels = 40, .first_label = first_label};
}

class FlatJob : public ::testing::TestWithParam<Method> {
 protected:
  ResumedJob job() const {
    ResumedJob job;
    job.options.model.method = GetParam();
    job.options.model.bits = 15;
    job.add_data({random_lines(lines(1, 700)), random_lines(lines(2, 400, 10)), "", random_lines(lines(3, 900, 20))});
    job.set_test({random_lines(lines(5, 300, 30)), random_lines(lines(6, 200))});
    return job;
  }
};

TEST_P(FlatJob, LearnsNearlyAsWellOnSeveralRanks) {
  const Outcome one = job().straight(1);
  for (const int ranks : {2, 3, 5}) {
    const Outcome many = job().straight(ranks);
    EXPECT_EQ(many.train.examples, one.train.examples);
    EXPECT_NEAR(many.test.mean_squared_seen(), one.test.mean_squared_seen(), 0.1) << ranks << " ranks";
  }
}

TEST_P(FlatJob, IsTheSameJobEveryTime) {
  for (const int ranks : {1, 3}) expect_same(job().straight(ranks), job().straight(ranks));
}

TEST_P(FlatJob, HoldsAllOnEveryRankWhateverThePlacement) {
  ResumedJob partitioned = job();
  partitioned.options.placement = Placement::kPartitioned;
  expect_same(partitioned.straight(3), job().straight(3));
}

TEST_P(FlatJob, ThatIsResumedIsTheOneThatWentOn) {
  for (const int ranks : {1, 3}) {
    const std::uint64_t calls = job().calls(ranks, 0);
    for (const std::uint64_t call : {calls / 4, calls / 2, calls * 3 / 4}) {
      SCOPED_TRACE(std::to_string(ranks) + " ranks, stopped at call " + std::to_string(call));
      const Ask ask{.request = Request::kCheckpoint, .rank = ranks - 1, .call = call};
      const Outcome expected = job().finish(ranks, ask);
      ResumedJob stopped = job();
      stopped.run_until(ranks, {.rank = ask.rank, .call = call});
      expect_same(stopped.finish(ranks), expected);
    }
  }
}

TEST_P(FlatJob, GoesOnFromAModel) {
  const Folder folder;
  std::move(results_on(2, job().options)[0].model).into_model().save(folder / "model");
  for (const int ranks : {1, 2}) {
    ResumedJob more = job();
    more.options.init = folder / "model";
    more.options.model = {};  // that of the model holds
    more.options.placement = Placement::kPartitioned;
    const Outcome outcome = more.straight(ranks);
    EXPECT_EQ(outcome.train.new_labels, 0U);
    EXPECT_LT(outcome.train.mean_log(), job().straight(ranks).train.mean_log());
  }
}

std::string name_of_method(const ::testing::TestParamInfo<Method>& test) {
  switch (test.param) {
    case Method::kOneAgainstAll:
      return "OneAgainstAll";
    case Method::kPecoc:
      return "Pecoc";
    case Method::kTable:
      return "Table";
    default:
      return "Other";
  }
}

INSTANTIATE_TEST_SUITE_P(Methods, FlatJob, ::testing::Values(Method::kOneAgainstAll, Method::kTable, Method::kPecoc),
                         name_of_method);

}  // namespace
}  // namespace cpt
