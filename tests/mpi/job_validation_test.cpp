// Jobs that validate: what they print and keep, on any number of ranks.
#include <algorithm>
#include <cmath>

#include "mpi/job_fixture.h"

namespace cpt::testing {
namespace {

using ::testing::HasSubstr;

class ValidatedJob : public JobTest, public ::testing::WithParamInterface<int> {
 protected:
  int ranks() const { return GetParam(); }

  // The log loss of the written model on this file, by `cpt evaluate`.
  double log_of_model(const std::string& data) {
    const Words command{CPT_PROGRAM, "evaluate", "--model", (run_directory() / "model").string(),
                        "--data",    data,       "--json"};
    const Outcome outcome = start_command(command)->wait(kLongEnough);
    EXPECT_EQ(outcome.code, 0) << outcome.err;
    return outcome.code == 0 ? Json::parse(outcome.out)["all"]["log"].get<double>() : std::nan("");
  }
};

INSTANTIATE_TEST_SUITE_P(, ValidatedJob, ::testing::Values(1, 3),
                         [](const auto& test) { return "On" + std::to_string(test.param); });

// The training data comes to contradict the validation data, whose labels are those of the first half.
TEST_P(ValidatedJob, StopsEarlyAndKeepsTheBestModel) {
  const std::string validation = file("validation.vw", stream(200, 9));
  std::string turned = stream(1500, 2);
  for (std::size_t at = 0; (at = turned.find(" |a f", at)) != turned.npos; ++at) turned.replace(at, 5, " |a f1");
  const std::string data = file("data.vw", stream(1500, 1) + turned);
  const Words options{"--validate",   validation, "--validate-every", "500", "--keep-best", "log",
                      "--early-stop", "2",        "--passes",         "20",  "--split",     std::to_string(ranks())};
  const Outcome outcome = run(ranks(), train({data}, options));
  expect_complete(outcome);

  const std::vector<Json> validations = validations_told();
  ASSERT_GT(validations.size(), 2U);
  const Json told = summary()["validation"];
  EXPECT_EQ(told["count"], validations.size());
  EXPECT_EQ(told["metric"], "log");
  EXPECT_EQ(told["stopped_early"], true);
  EXPECT_EQ(told["last"], validations.back());
  EXPECT_EQ(told["last"]["without_improvement"], 2);
  const auto best =
      std::ranges::min_element(validations, {}, [](const Json& one) { return one["value"].get<double>(); });
  EXPECT_EQ(told["best"], *best);
  EXPECT_EQ(validations.end() - best, 3) << "the best, and two that are not better";
  EXPECT_LT(told["best"]["value"], told["last"]["value"]);
  for (std::size_t i = 0; i < validations.size(); ++i) {
    EXPECT_EQ(validations[i]["losses"]["examples"], 200);
    EXPECT_EQ(validations[i]["value"], validations[i]["losses"]["log"]);
    if (i > 0) {
      EXPECT_GT(validations[i]["examples"], validations[i - 1]["examples"]);
    }
  }
  EXPECT_EQ(validations.front()["examples"], 500);
  EXPECT_NEAR(log_of_model(validation), told["best"]["value"].get<double>(), 1e-9);
  EXPECT_THAT(outcome.out, HasSubstr("validation after "));
}

TEST_P(ValidatedJob, KeepsTheLastModelUnlessTold) {
  const std::string validation = file("validation.vw", stream(200, 9));
  expect_complete(run(ranks(), train({shards()}, {"--validate", validation, "--passes", "3"})));
  const Json told = summary()["validation"];
  EXPECT_EQ(told["count"], 3);
  EXPECT_EQ(told["metric"], "log");
  EXPECT_EQ(told["stopped_early"], false);
  EXPECT_EQ(told["last"]["examples"], 4500);
  EXPECT_EQ(told["last"]["pass"], 3);
  EXPECT_NEAR(log_of_model(validation), told["last"]["value"].get<double>(), 1e-9);
}

TEST_P(ValidatedJob, CannotTestAModelThatItMayNotKeep) {
  const std::string validation = file("validation.vw", stream(200, 9));
  const Words options{"--validate", validation, "--keep-best", "log", "--test", validation};
  expect_failed(run(ranks(), train({shards()}, options)), kUsage,
                HasSubstr("--test and --keep-best exclude each other"));
}

}  // namespace
}  // namespace cpt::testing
