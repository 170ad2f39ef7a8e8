// What is looked at before a run: memory for the weights of a run that goes on is asked for before they are read, and
// the first examples may give warnings.
#include "train/setup/run_setup.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <utility>
#include <vector>

#include "model/weights/weight_table.h"
#include "train/files_in.h"
#include "train/job.h"
#include "train/setup/table_size.h"

namespace cpt {
namespace {

namespace fs = std::filesystem;
using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

class MemoryToGoOn : public ::testing::TestWithParam<int> {
 protected:
  MemoryToGoOn() {
    options_.placement = Placement::kPartitioned;
    options_.data = {folder_.write("a", random_lines({.seed = 1})), folder_.write("b", random_lines({.seed = 2}))};
    options_.checkpoints.directory = folder_ / "checkpoints";
    results_on(1, options_, {.model = folder_ / "model"});
  }

  TrainingOptions resumed() const {
    TrainingOptions options = options_;
    options.resume = true;
    return options;
  }
  TrainingOptions from_model() const {
    TrainingOptions options = options_;
    options.init = (folder_ / "model").string();
    return options;
  }

  // What all ranks need: the table, and what each holds besides for its share of the two shards.
  std::uint64_t needed() const {
    const auto ranks = static_cast<std::uint64_t>(GetParam());
    return (sizeof(Row) << 13) + ranks * bytes_besides(options_.model, (2 + ranks - 1) / ranks);
  }

  // What rank 0 ends with where so much memory is free.
  static Thrown prepared(const TrainingOptions& options, std::uint64_t free) {
    Thrown thrown;
    run_ranks(GetParam(), [&](Communicator& comm) {
      const Thrown here = thrown_by([&] { prepare_run(options, comm, free); });
      if (comm.rank() == 0) thrown = here;
    });
    return thrown;
  }

  Folder folder_;
  TrainingOptions options_ = small_job();
};
INSTANTIATE_TEST_SUITE_P(Ranks, MemoryToGoOn, ::testing::Values(1, 2));

TEST_P(MemoryToGoOn, IsThatOfTheTableAndWhatRanksHoldBesides) {
  for (const TrainingOptions& options : {resumed(), from_model()}) {
    EXPECT_EQ(prepared(options, needed()).fault, std::nullopt);
    const Thrown refusal = prepared(options, needed() - 1);
    EXPECT_EQ(refusal.fault, Fault::kFailed);
    EXPECT_THAT(refusal.text, AllOf(HasSubstr("the weight table of 2^13 rows takes"), HasSubstr("it keeps its size")));
  }
}

// Damaged weights tell whether they were read: those of the model, which are the checkpoint's, too.
TEST_P(MemoryToGoOn, IsAskedForBeforeItIsTaken) {
  flip_bit(folder_ / "model" / "weights", 100);
  for (const TrainingOptions& options : {resumed(), from_model()}) {
    EXPECT_EQ(prepared(options, needed()).fault, Fault::kBadData);
    EXPECT_EQ(prepared(options, needed() - 1).fault, Fault::kFailed);
  }
}

// Warnings about the first lines of the input.
class FirstLines : public ::testing::TestWithParam<int> {  // the number of ranks
 protected:
  FirstLines() {
    options_.model.fields.text = {"query"};
    options_.checkpoints.directory = folder_ / "checkpoints";
  }

  // 50 lines with words of their own; no two files are copies.
  std::string lines(const std::string& name, const std::string& key) const {
    std::string text;
    for (int i = 0; i < 50; ++i) {
      text += R"({"label": "l)" + std::to_string(i % 5) + R"(", ")" + key + R"(": "w)" + std::to_string(i) + R"( v)" +
              std::to_string(i) + (i == 0 ? " " + name : "") + "\"}\n";
    }
    return folder_.write(name, text);
  }
  static std::vector<std::string> warnings(const TrainingOptions& options) {
    std::vector<std::string> all;
    run_ranks(GetParam(), [&](Communicator& comm) {
      const RunSetup setup = prepare_run(options, comm, std::nullopt);
      if (comm.rank() == 0) all = setup.warnings;
    });
    return all;
  }

  Folder folder_;
  TrainingOptions options_ = small_job();
  const std::string missing_ = ": no line of the first 50 has the key 'query' of --text-keys";
};
INSTANTIATE_TEST_SUITE_P(Ranks, FirstLines, ::testing::Values(1, 2));

TEST_P(FirstLines, OfNewShardsOfAResumedRunAreCompared) {
  options_.data = {lines("a.json", "query")};
  results_on(GetParam(), options_, {.model = folder_ / "model"});
  options_.resume = true;
  options_.data.push_back(lines("b.json", "query"));
  EXPECT_THAT(warnings(options_), IsEmpty());
  const std::string renamed = lines("c.json", "q");
  options_.data[1] = renamed;
  EXPECT_THAT(warnings(options_),
              ElementsAre(renamed + missing_, AllOf(HasSubstr("has met almost none of the features"),
                                                    HasSubstr(renamed + ", json lines with features like "))));
  options_.data.pop_back();
  EXPECT_THAT(warnings(options_), IsEmpty());
}

TEST_P(FirstLines, OfTestAndValidationAreLookedAtToo) {
  options_.data = {lines("a.json", "query")};
  options_.test = {lines("t.json", "q")};
  options_.validation.data = {lines("v.json", "q")};
  EXPECT_THAT(warnings(options_), ElementsAre(options_.test[0] + missing_, options_.validation.data[0] + missing_));
}

TEST_P(FirstLines, ThatBeginWithListsOfLabelsAreNamed) {
  options_.model.fields = {};
  options_.data = {folder_.write("a.vw", "1,2,3 | x\n4 | y\n2,3 | z\n")};
  EXPECT_THAT(
      warnings(options_),
      ElementsAre(options_.data[0] +
                  ": 2 of the first 3 lines have a label like '1,2,3', which is one label in vw lines; several "
                  "labels in a line, and --multilabel, are for libsvm, fasttext and json; costs, as of bandits, "
                  "are not read"));
  options_.data = {folder_.write("b.vw", "1,2,3 | x\n4 | y\n")};
  EXPECT_THAT(warnings(options_), IsEmpty());
}

TEST_P(FirstLines, OfHugeValuesAreNamedWhereTheyAreLearned) {
  options_.model.fields = {};
  options_.data = {folder_.write("a.csv", "label,user,ts\na,u,1700000000\nb,v,1700000001\n")};
  EXPECT_THAT(warnings(options_),
              ElementsAre(HasSubstr(options_.data[0] + ": values of the column 'ts' are like 1.7e+09")));
  results_on(1, options_, {.model = folder_ / "model"});
  options_.init = (folder_ / "model").string();
  options_.test = std::exchange(options_.data, {});
  options_.test_frozen = true;
  EXPECT_THAT(warnings(options_), IsEmpty()) << "nothing is learned";
}

class Importances : public ::testing::TestWithParam<int> {  // the number of ranks
 protected:
  // The warnings of rank 0 about importances.
  static std::vector<std::string> warnings_of(const TrainingOptions& options) {
    std::vector<std::string> about;
    run_ranks(GetParam(), [&](Communicator& comm) {
      const RunSetup setup = prepare_run(options, comm, std::nullopt);
      for (const std::string& warning : setup.warnings) {
        if (comm.rank() == 0 && warning.find("importances") != std::string::npos) about.push_back(warning);
      }
    });
    return about;
  }

  Folder folder_;
};
INSTANTIATE_TEST_SUITE_P(Ranks, Importances, ::testing::Values(1, 2));

TEST_P(Importances, FarAboveThoseThatCalibrationTakesGiveAWarning) {
  const std::string lines = "a 1 | x\nb 1000 | y\n";
  TrainingOptions options = small_job();
  options.data = {folder_.write("a", lines), folder_.write("b", lines)};
  EXPECT_THAT(
      warnings_of(options),
      ::testing::ElementsAre(AllOf(HasSubstr(options.data[0]), HasSubstr("importances from 1 to 1000; calibration"))));
  options.model.calibrate = false;
  EXPECT_THAT(warnings_of(options), ::testing::IsEmpty());
  options.model.calibrate = true;
  results_on(1, options, {.model = folder_ / "model"});
  options.init = (folder_ / "model").string();
  EXPECT_THAT(warnings_of(options), ::testing::SizeIs(1));
  options.test = std::exchange(options.data, {});
  options.test_frozen = true;
  EXPECT_THAT(warnings_of(options), ::testing::IsEmpty()) << "nothing is learned";
}

}  // namespace
}  // namespace cpt
