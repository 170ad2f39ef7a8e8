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
using ::testing::HasSubstr;

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
