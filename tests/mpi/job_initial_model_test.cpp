// Jobs that begin with the model of an earlier one.
#include <fstream>

#include "mpi/job_fixture.h"

namespace cpt::testing {
namespace {

namespace fs = std::filesystem;
using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::Not;

class InitialModelOfAJob : public JobTest {
 protected:
  InitialModelOfAJob() {
    expect_complete(run_alone(train({shards()}, {"--alpha", "0.5", "--seed", "7", "--test", test_, "--test-frozen"})));
    made_ = summary();
    fs::rename(run_directory(), path("made"));
  }

  // The command line of a run that begins with the model.
  Words begin(const Words& more) const {
    Words words{"--init", model(), "--run", run_directory().string(), "--overwrite"};
    words.insert(words.end(), more.begin(), more.end());
    return words;
  }
  void expect_told(int ranks, const std::string& test, const Json& evaluated) {
    const Outcome outcome = run(ranks, begin({"--test", test, "--test-frozen", "--progress", "none"}));
    ASSERT_EQ(outcome.code, 0) << outcome.err;
    const Json told = summary()["test"];
    EXPECT_EQ(told["examples"], evaluated["all"]["examples"]);
    EXPECT_NEAR(told["log"], evaluated["all"]["log"], 1e-12);
    EXPECT_NEAR(told["squared"], evaluated["all"]["squared"], 1e-12);
    EXPECT_NEAR(told["log_seen"], evaluated["seen"]["log"], 1e-12);
    EXPECT_NEAR(told["squared_seen"], evaluated["seen"]["squared"], 1e-12);
  }
  Words score(const Words& more = {}) const {
    Words words = begin({"--test", test_, "--test-frozen"});
    words.insert(words.end(), more.begin(), more.end());
    return words;
  }
  std::string model() const { return (path("made") / "model").string(); }

  std::string test_ = file("test/0.vw", stream(300, 99));
  Json made_;  // the summary of the run that made the model
};

// Beside the summary of a run that makes none it would be taken for that run's.
TEST_F(InitialModelOfAJob, ScoresNowhereWhereThereIsAnotherModel) {
  expect_complete(run_alone(train({shards()})));
  const Json earlier = summary();
  const Outcome refused = run(3, score());
  EXPECT_EQ(refused.code, kCannotWrite);
  EXPECT_THAT(refused.err, HasSubstr("model: is the model of another run"));
  EXPECT_TRUE(fs::exists(run_directory() / "model"));
  EXPECT_EQ(summary(), earlier);
}

TEST_F(InitialModelOfAJob, ScoresWithoutLearningAndWritesNoModel) {
  for (const char* placement : {"partitioned", "replicated", "hybrid"}) {
    const Outcome outcome = run(3, score({"--placement", placement, "--progress", "none"}));
    ASSERT_EQ(outcome.code, 0) << outcome.err;
    const Json told = summary();
    for (const char* count : {"examples", "new_labels", "error_lines"}) {
      EXPECT_EQ(told["test"][count], made_["test"][count]) << count;
    }
    EXPECT_NEAR(told["test"]["log_seen"], made_["test"]["log_seen"], 1e-12);
    EXPECT_EQ(told["train"]["examples"], 0);
    EXPECT_EQ(told["tree"], made_["tree"]);
    EXPECT_EQ(told["weights"], made_["weights"]);
    EXPECT_FALSE(fs::exists(run_directory() / "model"));
    EXPECT_THAT(outcome.out,
                AllOf(HasSubstr("\ntest: 300 examples"), Not(HasSubstr("train:")), Not(HasSubstr("model:"))));
  }
}

TEST_F(InitialModelOfAJob, IsToldApartFromOtherData) {
  std::string other;
  for (int i = 0; i < 20; ++i) other += "l1 |other x" + std::to_string(i) + " y" + std::to_string(i) + "\n";
  const std::string data = file("other.vw", other);
  const Outcome outcome = run(2, begin({"--data", data}));
  expect_complete(outcome);
  EXPECT_THAT(
      lines_of(outcome.err),
      ::testing::Contains(
          AllOf(HasSubstr("cpt_dist: warning: the model has met almost none of the features in the first examples of " +
                          data + ", vw lines with features like other^x0 other^y0 "),
                HasSubstr("; it has learned from vw lines with features like "))));
}

// What one process says of a model is what many ranks say.
TEST_F(InitialModelOfAJob, HasTheLossesThatEvaluateComputes) {
  const std::string more = file("more/0.vw", stream(400, 5) + "new 2 |a f1\nl1 0.5 |b g1:0.5\n");
  const Words command{CPT_PROGRAM, "evaluate", "--model", model(), "--data", more, "--json"};
  const Outcome outcome = start_command(command)->wait(kSoon);
  ASSERT_EQ(outcome.code, 0) << outcome.err;
  const Json evaluated = Json::parse(outcome.out);
  for (const int ranks : {1, 3}) {
    expect_told(ranks, more, evaluated);
  }
}

TEST_F(InitialModelOfAJob, GoesOnAndTellsTheOptionsOfTheModel) {
  expect_complete(run(3, begin({"--data", test_, "--bits", "12", "--alpha", "0.50"})));
  const Json told = summary();
  EXPECT_EQ(told["options"]["init"], model());
  EXPECT_EQ(told["options"]["alpha"], "0.5");
  EXPECT_EQ(told["options"]["seed"], "7");
  EXPECT_EQ(told["options"]["bits"], "12");
  EXPECT_EQ(told["train"]["new_labels"], 0);
  EXPECT_NE(told["weights"]["digest"], made_["weights"]["digest"]);
  EXPECT_THAT(log(), ::testing::Contains(HasSubstr("option seed = 7")));
}

TEST_F(InitialModelOfAJob, RefusesOtherOptionsThanItsOwn) {
  const auto refused = [&](const Words& more, const std::string& option, const std::string& mine,
                           const std::string& its) {
    expect_failed(
        run(2, score(more)), kUsage,
        AllOf(HasSubstr(option + " is " + mine + ", "), HasSubstr(model() + " was trained with " + its + ":")));
    EXPECT_FALSE(fs::exists(run_directory()));
  };
  refused({"--alpha", "0.9"}, "--alpha", "0.9", "0.5");
  refused({"--alpha", "0.5000000000000001"}, "--alpha", "0.5000000000000001", "0.5");
  refused({"--tree", "random"}, "--tree", "random", "online");
  refused({"--interactions", "ab"}, "--interactions", "ab", "none");
  refused({"--config", file("job.ini", "seed = 1\n")}, "--seed", "1", "7");
}

TEST_F(InitialModelOfAJob, CostsAnEarlierRunNothingWhenItCannotBeRead) {
  const Outcome nowhere =
      run(2, {"--init", path("nowhere").string(), "--test", test_, "--run", path("made").string(), "--overwrite"});
  expect_failed(nowhere, kNoInput, HasSubstr("nowhere"));
  fs::copy(path("made") / "model", path("damaged"));
  std::ofstream(path("damaged") / "weights", std::ios::binary | std::ios::in) << "not what was there";
  const Outcome damaged =
      run(2, {"--init", path("damaged").string(), "--test", test_, "--run", path("made").string(), "--overwrite"});
  expect_failed(damaged, kBadData, HasSubstr("checksum"));
  const Outcome around = run_alone({"--init", path("made").string(), "--test", test_, "--run", path("other").string()});
  expect_failed(around, kNoInput, HasSubstr("made: is not a model; did you mean " + model() + "?"));
  const Outcome itself = run(2, {"--init", (path("made") / "." / "model").string(), "--test", test_, "--run",
                                 path("made").string(), "--overwrite"});
  expect_failed(itself, kUsage, AllOf(HasSubstr("--init"), HasSubstr("--run")));
  EXPECT_TRUE(fs::exists(path("made") / "summary.json"));
  EXPECT_EQ(run(2, score()).code, 0);
}

}  // namespace
}  // namespace cpt::testing
