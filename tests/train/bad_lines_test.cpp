// Lines that break their format: they stop all ranks, or are skipped, told of and counted.
#include "train/errors.h"
#include "train/partitioned/partitioned_job.h"

namespace cpt {
namespace {

namespace fs = std::filesystem;
using ::testing::AllOf;
using ::testing::Contains;
using ::testing::Each;
using ::testing::HasSubstr;
using ::testing::StartsWith;

using BadLines = Errors;
INSTANTIATE_TEST_SUITE_P(, BadLines,
                         ::testing::Values(Placement::kPartitioned, Placement::kReplicated, Placement::kHybrid),
                         name_of_placement);

TEST_P(BadLines, OfSeveralRanksTheLowestSpeaksAndTheOthersAreCounted) {
  for (std::size_t shard = 0; shard < kRanks; ++shard) append(shard, "label | word:abc\n");
  EXPECT_THAT(agreed_error(Fault::kBadData), AllOf(StartsWith("rank 0 on "), HasSubstr("(and 2 more ranks failed)")));
}

TEST_P(BadLines, ABadLineInTheTestPartStopsAll) {
  options_.test = {folder_.write("test", random_lines({.examples = 100}) + "| no label\n")};
  for (const bool frozen : {false, true}) {
    options_.test_frozen = frozen;
    EXPECT_THAT(agreed_error(Fault::kBadData),
                AllOf(StartsWith("rank 0 on "), HasSubstr(options_.test[0] + ":101:1: ")));
  }
}

TEST_P(BadLines, ABadLineAnywhereStopsAll) {
  options_.format = Format::kVw;
  for (std::size_t shard = 0; shard < kRanks; ++shard) {
    const std::string name = fs::path(options_.data[shard]).filename();
    for (const std::size_t before : {0U, 1U, 7U, 31U, 64U, 150U, 197U, 200U}) {
      SCOPED_TRACE(name + " after " + std::to_string(before) + " lines");
      folder_.write(name, random_lines({.seed = 1, .examples = before}) + "label | word:abc\n" +
                              random_lines({.seed = 2, .examples = 200 - before}));
      EXPECT_THAT(agreed_error(Fault::kBadData),
                  AllOf(StartsWith(reader_of(shard)),
                        HasSubstr(options_.data[shard] + ":" + std::to_string(before + 1) + ":14: expected a number"),
                        HasSubstr("found 'abc'")));
    }
    folder_.write(name, random_lines({.seed = shard + 1, .examples = 200}));
  }
}

class WarningHater : public Recorder {
 public:
  void warn(const std::string& text) override {
    Recorder::warn(text);
    throw Error(Fault::kCannotWrite, "no room for warnings");
  }
};

TEST_P(BadLines, AnObserverThatThrowsAtAWarningStopsAll) {
  options_.skip_bad_lines = true;
  append(1, "label | word:abc\nbad\nbad\n");
  WarningHater observer;
  EXPECT_THAT(agreed_error(Fault::kCannotWrite, {.observer = &observer}), HasSubstr("no room for warnings"));
  EXPECT_EQ(observer.warnings.size(), 1U);
}

TEST_P(BadLines, SkippedLinesOfAllRanksReachTheObserver) {
  options_.skip_bad_lines = true;
  for (std::size_t shard = 0; shard < kRanks; ++shard) append(shard, "label | word:abc\n| x\n");
  Recorder recorder;
  const std::vector<TrainingResult> results = results_on(kRanks, options_, {.observer = &recorder});
  for (const TrainingResult& result : results) {
    EXPECT_EQ(result.summary.train_error_lines, 6U);
    EXPECT_EQ(result.summary.train.examples, 600U);
  }
  EXPECT_EQ(recorder.warnings.size(), 6U);
  for (std::size_t shard = 0; shard < kRanks; ++shard) {
    const auto from_its_reader = [&](const std::string& place) {
      return Contains(AllOf(StartsWith(reader_of(shard)), HasSubstr(options_.data[shard] + place)));
    };
    EXPECT_THAT(recorder.warnings, from_its_reader(":201:14: expected a number"));
    EXPECT_THAT(recorder.warnings, from_its_reader(":202:1: expected a label"));
  }
}

// However late in the round they come, in which there is nothing else to learn.
TEST_P(BadLines, ManySkippedLinesReachTheObserverInTheOrderOfTheirShard) {
  options_.skip_bad_lines = true;
  std::string bad;
  for (std::size_t i = 0; i < 40; ++i) bad += "bad\n";
  append(1, bad);
  Recorder recorder;
  EXPECT_EQ(results_on(kRanks, options_, {.observer = &recorder})[0].summary.train_error_lines, 40U);
  ASSERT_EQ(recorder.warnings.size(), 20U) << "the most that a rank tells of";
  for (std::size_t i = 0; i < recorder.warnings.size(); ++i) {
    EXPECT_THAT(recorder.warnings[i],
                AllOf(StartsWith(reader_of(1)), HasSubstr(options_.data[1] + ":" + std::to_string(201 + i) + ":")));
  }
  append(2, bad);
  Recorder of_two;
  EXPECT_EQ(results_on(kRanks, options_, {.observer = &of_two})[0].summary.train_error_lines, 80U);
  for (const std::size_t shard : {1U, 2U}) {
    EXPECT_THAT(of_two.warnings, Contains(StartsWith(reader_of(shard))).Times(20));
  }
  EXPECT_EQ(of_two.warnings.size(), 40U);
}

TEST_P(BadLines, AreCountedInEveryPassAndInTheTestPart) {
  options_.skip_bad_lines = true;
  options_.most_bad_lines = 3;  // of a pass
  options_.passes = 2;
  append(1, "bad\nbad\nbad\n");
  options_.test = {folder_.write("test", random_lines({.examples = 100}) + "bad\nbad\n")};
  const Summary summary = results_on(kRanks, options_)[0].summary;
  EXPECT_EQ(summary.train_error_lines, 6U);
  EXPECT_EQ(summary.test_error_lines, 2U);
}

TEST_P(BadLines, MoreBadLinesThanAllowedStopAllAfterTheirWarnings) {
  options_.skip_bad_lines = true;
  options_.most_bad_lines = 4;
  append(0, "bad\nbad\n");
  append(2, "bad\nbad\n");
  EXPECT_EQ(results_on(kRanks, options_)[0].summary.train_error_lines, 4U);
  options_.most_bad_lines = 3;
  Recorder recorder;
  EXPECT_EQ(agreed_error(Fault::kBadData, {.observer = &recorder}),
            "4 bad lines were skipped, more than the 3 that --on-error allows");
  EXPECT_EQ(recorder.warnings.size(), 4U);
}

TEST(BadLinesAlone, StayAsTheyAre) {
  const Folder folder;
  TrainingOptions options = small_job();
  options.data = {folder.write("shard", random_lines({.examples = 20}) + "label | word:abc\n")};
  const Ending ending = std::move(train_on(1, options)[0]);
  EXPECT_FALSE(ending.agreed);
  EXPECT_EQ(ending.fault, Fault::kBadData);
  EXPECT_THAT(ending.error, StartsWith(options.data[0] + ":21:14: expected a number"));
}

TEST(BadLinesAlone, BadLinesAreCountedAndLimited) {
  const Folder folder;
  TrainingOptions options = small_job();
  options.skip_bad_lines = true;
  options.data = {folder.write("shard", "bad\n" + random_lines({.examples = 20}) + "bad\n")};
  options.format = Format::kVw;
  Recorder recorder;
  const Ending ending = std::move(train_on(1, options, {.observer = &recorder})[0]);
  EXPECT_EQ(ending.result.value().summary.train_error_lines, 2U);
  EXPECT_THAT(recorder.warnings, Each(StartsWith("skipped: " + options.data[0])));
  EXPECT_EQ(recorder.warnings.size(), 2U);
  options.most_bad_lines = 1;
  EXPECT_EQ(train_on(1, options)[0].fault, Fault::kBadData);
}

}  // namespace
}  // namespace cpt
