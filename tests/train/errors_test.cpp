// One rank's error is everyone's decision: all ranks stop for the same reason, which says who, where and what; none
// hangs.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fstream>
#include <limits>

#include "comm/faulty.h"
#include "data/shards.h"
#include "train/interposed.h"
#include "train/job.h"

namespace cpt {
namespace {

namespace fs = std::filesystem;
using ::testing::AllOf;
using ::testing::Contains;
using ::testing::Each;
using ::testing::HasSubstr;
using ::testing::StartsWith;

constexpr int kRanks = 3;

class Errors : public ::testing::Test {
 protected:
  Errors() {
    // One shard each, of about the same size.
    for (std::uint64_t seed = 1; seed <= kRanks; ++seed) {
      options_.data.push_back(
          folder_.write("shard" + std::to_string(seed), random_lines({.seed = seed, .examples = 200})));
    }
  }

  void append(std::size_t shard, const std::string& lines) {
    std::ofstream(options_.data[shard], std::ios::app) << lines;
  }

  // "rank 2 on host": who reads the shard.
  std::string reader_of(std::size_t shard) const {
    const auto assigned = assign_shards(find_shards(options_.data), kRanks);
    for (std::size_t rank = 0; rank < kRanks; ++rank) {
      for (const std::uint32_t mine : assigned[rank]) {
        if (mine == shard) return "rank " + std::to_string(rank) + " on ";
      }
    }
    return "nobody";
  }

  // What all ranks say; each must have stopped with the same AgreedError.
  std::string agreed_error(Fault fault, const Staging& staging = {}) const {
    const std::vector<Ending> endings = train_on(kRanks, options_, staging);
    for (const Ending& ending : endings) {
      EXPECT_TRUE(ending.agreed) << ending.error;
      EXPECT_EQ(ending.fault, fault);
      EXPECT_EQ(ending.error, endings[0].error);
    }
    return endings[0].error;
  }

  Folder folder_;
  TrainingOptions options_ = small_job();
};

TEST_F(Errors, ABadLineOfOneRankStopsAll) {
  for (std::size_t shard = 0; shard < kRanks; ++shard) {
    append(shard, "label | word:abc\n");
    EXPECT_THAT(agreed_error(Fault::kBadData),
                AllOf(StartsWith(reader_of(shard)), HasSubstr(options_.data[shard] + ":201:14: expected a number"),
                      HasSubstr("found 'abc'")));
    folder_.write(fs::path(options_.data[shard]).filename(), random_lines({.seed = shard + 1, .examples = 200}));
  }
}

TEST_F(Errors, ABadFirstLineStopsAll) {
  options_.data[1] = folder_.write("rotten", "label\n" + random_lines({.examples = 200}));
  options_.format = Format::kVw;
  EXPECT_THAT(agreed_error(Fault::kBadData), HasSubstr(options_.data[1] + ":1:6: expected '|'"));
}

TEST_F(Errors, BadLinesOfSeveralRanksAreCounted) {
  append(0, "label | word:abc\n");
  append(2, "label | word:abc\n");
  options_.data[1] = folder_.write("shard2", random_lines({.seed = 2, .examples = 200}) + "label | word:abc\n");
  const std::string error = agreed_error(Fault::kBadData);
  EXPECT_THAT(error, StartsWith("rank "));
}

TEST_F(Errors, ABadLineInTheTestPartStopsAll) {
  options_.test = {folder_.write("test", random_lines({.examples = 100}) + "| no label\n")};
  for (const bool frozen : {false, true}) {
    options_.test_frozen = frozen;
    EXPECT_THAT(agreed_error(Fault::kBadData),
                AllOf(StartsWith("rank 0 on "), HasSubstr(options_.test[0] + ":101:1: ")));
  }
}

TEST_F(Errors, AShardThatOneRankDoesNotSeeStopsAll) {
  Staging staging;
  staging.options_of = [&](int rank, TrainingOptions& options) {
    if (rank == 1) options.data.push_back((folder_ / "absent").string());
  };
  EXPECT_THAT(agreed_error(Fault::kNoInput, staging),
              AllOf(StartsWith("rank 1 on "), HasSubstr((folder_ / "absent").string())));
}

TEST_F(Errors, AShardThatVanishesStopsAll) {
  for (std::size_t shard = 0; shard < kRanks; ++shard) {
    const std::string reader = reader_of(shard);
    Staging staging;
    staging.wrap = [&](Communicator& inner) {
      // The third collective comes before shards are opened, and after they were found.
      return std::make_unique<Interposed>(inner, [&, rank = inner.rank()](std::uint64_t call) {
        if (call == 2 && rank == 0) fs::remove(options_.data[shard]);
      });
    };
    EXPECT_THAT(agreed_error(Fault::kNoInput, staging), AllOf(StartsWith(reader), HasSubstr(options_.data[shard])));
    folder_.write(fs::path(options_.data[shard]).filename(), random_lines({.seed = shard + 1, .examples = 200}));
  }
}

TEST_F(Errors, OtherOptionsOrShardsOnOneRankStopAll) {
  const std::vector<std::function<void(TrainingOptions&)>> differences = {
      [](TrainingOptions& options) { options.data.pop_back(); },
      [](TrainingOptions& options) { options.model.learning_rate *= 1 + 1e-12; },
      [](TrainingOptions& options) { options.model.seed = 2; },
      [](TrainingOptions& options) { options.merge = MergeRule::kAverage; },
      [](TrainingOptions& options) { options.passes = 2; },
      [](TrainingOptions& options) { options.test = {options.data[0]}; },
  };
  for (const auto& differ : differences) {
    Staging staging;
    staging.options_of = [&](int rank, TrainingOptions& options) {
      if (rank == 2) differ(options);
    };
    EXPECT_THAT(agreed_error(Fault::kUsage, staging),
                AllOf(StartsWith("rank 2 on "), HasSubstr("other options or sees other shards")));
  }
}

TEST_F(Errors, StandardInputIsForOneRank) {
  options_.data = {"-"};
  EXPECT_THAT(agreed_error(Fault::kUsage), HasSubstr("one rank only"));
}

TEST_F(Errors, WeightsThatDivergeOnOneRankStopAll) {
  // A step that no float holds.
  options_.model.loss = Loss::kSquared;
  options_.model.update = Update::kSgd;
  options_.model.learning_rate = 1e12;
  options_.epoch_examples = 1'000'000;
  options_.data[2] = folder_.write(
      "heavy", "a 1e30 | boom\nb 1e30 | boom\na 1e30 | boom\nb 1e30 | boom\n" + random_lines({.examples = 200}));
  EXPECT_THAT(agreed_error(Fault::kFailed),
              AllOf(StartsWith(reader_of(2)), HasSubstr("no longer finite"), HasSubstr("--learning-rate")));
}

TEST_F(Errors, WeightsThatDivergeJustBeforeAMergeStopAll) {
  options_.model.loss = Loss::kSquared;
  options_.model.update = Update::kSgd;
  options_.model.learning_rate = 1e12;
  options_.epoch_examples = 1;
  options_.data[2] = folder_.write(
      "heavy", "a 1e30 | boom\nb 1e30 | boom\na 1e30 | boom\nb 1e30 | boom\n" + random_lines({.examples = 200}));
  EXPECT_THAT(agreed_error(Fault::kFailed),
              AllOf(StartsWith("rank "), HasSubstr("finite"), HasSubstr("--learning-rate")));
}

class Grumpy : public Recorder {
 public:
  explicit Grumpy(std::size_t patience) : patience_(patience) {}
  void report(const Report& report) override {
    Recorder::report(report);
    if (reports.size() > patience_) throw Error(Fault::kCannotWrite, "the disk is full");
  }

 private:
  std::size_t patience_;
};

TEST_F(Errors, AnObserverThatThrowsStopsAll) {
  Recorder patient;
  train_on(kRanks, options_, {.observer = &patient});
  ASSERT_GT(patient.reports.size(), 5U);
  for (std::size_t patience = 0; patience < patient.reports.size(); ++patience) {
    Grumpy grumpy(patience);
    const std::string error = agreed_error(Fault::kCannotWrite, {.observer = &grumpy});
    EXPECT_THAT(error, AllOf(StartsWith("rank 0 on "), HasSubstr("the disk is full")));
    EXPECT_EQ(grumpy.reports.size(), patience + 1);  // it is left alone from then on
  }
}

class WarningHater : public Recorder {
 public:
  void warn(const std::string&) override { throw Error(Fault::kCannotWrite, "no room for warnings"); }
};

TEST_F(Errors, AnObserverThatThrowsAtAWarningStopsAll) {
  options_.skip_bad_lines = true;
  append(1, "label | word:abc\n");
  WarningHater observer;
  EXPECT_THAT(agreed_error(Fault::kCannotWrite, {.observer = &observer}), HasSubstr("no room for warnings"));
}

TEST_F(Errors, SkippedLinesOfAllRanksReachTheObserver) {
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

TEST_F(Errors, AsManyBadLinesAsAllowedAreSkipped) {
  options_.skip_bad_lines = true;
  options_.most_bad_lines = 4;
  append(0, "bad\nbad\n");
  append(2, "bad\nbad\n");
  EXPECT_EQ(results_on(kRanks, options_)[0].summary.train_error_lines, 4U);
}

TEST_F(Errors, MoreBadLinesThanAllowedStopAllAfterTheirWarnings) {
  options_.skip_bad_lines = true;
  options_.most_bad_lines = 3;
  append(0, "bad\nbad\n");
  append(2, "bad\nbad\n");
  Recorder recorder;
  EXPECT_EQ(agreed_error(Fault::kBadData, {.observer = &recorder}),
            "4 bad lines were skipped, more than the 3 that --on-error allows");
  EXPECT_EQ(recorder.warnings.size(), 4U);
}

// A rank that dies in the middle of anything: the others' calls fail, none waits for ever.
TEST_F(Errors, ARankThatDiesLetsNobodyHang) {
  for (std::uint64_t call = 0; call < 40; ++call) {
    Staging staging;
    staging.wrap = [&](Communicator& inner) {
      return std::make_unique<testing::Faulty>(inner, 1, call, testing::throw_error);
    };
    const std::vector<Ending> endings = train_on(kRanks, options_, staging);
    EXPECT_EQ(endings[1].error, "broken on purpose");
    for (const Ending& ending : endings) EXPECT_FALSE(ending.result) << "call " << call;
  }
}

TEST(ErrorsAlone, StayAsTheyAre) {
  const Folder folder;
  TrainingOptions options = small_job();
  options.data = {folder.write("shard", random_lines({.examples = 20}) + "label | word:abc\n")};
  const Ending ending = std::move(train_on(1, options)[0]);
  EXPECT_FALSE(ending.agreed);
  EXPECT_EQ(ending.fault, Fault::kBadData);
  EXPECT_THAT(ending.error, StartsWith(options.data[0] + ":21:14: expected a number"));
}

TEST(ErrorsAlone, BadLinesAreCountedAndLimited) {
  const Folder folder;
  TrainingOptions options = small_job();
  options.skip_bad_lines = true;
  options.data = {folder.write("shard", "bad\n" + random_lines({.examples = 20}) + "bad\n")};
  options.format = Format::kVw;
  Recorder recorder;
  const Ending ending = std::move(train_on(1, options, {.observer = &recorder})[0]);
  EXPECT_EQ(ending.result.value().summary.train_error_lines, 2U);
  EXPECT_THAT(recorder.warnings, Each(StartsWith(options.data[0])));
  EXPECT_EQ(recorder.warnings.size(), 2U);
  options.most_bad_lines = 1;
  EXPECT_EQ(train_on(1, options)[0].fault, Fault::kBadData);
}

TEST(ErrorsAlone, OptionsAreChecked) {
  const Folder folder;
  const std::string shard = folder.write("shard", "a | x\n");
  const std::vector<std::function<void(TrainingOptions&)>> mistakes = {
      [](TrainingOptions& options) { options.data.clear(); },
      [](TrainingOptions& options) { options.passes = 0; },
      [](TrainingOptions& options) { options.epoch_fraction = 0; },
      [](TrainingOptions& options) { options.epoch_fraction = 1.5; },
      [](TrainingOptions& options) { options.epoch_fraction = std::numeric_limits<double>::quiet_NaN(); },
      [](TrainingOptions& options) { options.model.bits = 5; },
      [](TrainingOptions& options) { options.data.emplace_back("-"), options.passes = 2; },
      [](TrainingOptions& options) { options.data = options.test = {"-"}; },
  };
  for (const auto& mistake : mistakes) {
    TrainingOptions options = small_job();
    options.data = {shard};
    mistake(options);
    EXPECT_EQ(train_on(1, options)[0].fault, Fault::kUsage);
  }
}

}  // namespace
}  // namespace cpt
