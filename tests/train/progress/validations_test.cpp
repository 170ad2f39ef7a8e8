// Validation: what it measures, that it leaves training alone, and that its decisions depend neither on ranks nor on
// stops.
#include "train/progress/validations.h"

#include <gmock/gmock.h>

#include <cmath>
#include <filesystem>
#include <limits>

#include "train/checkpoint/resumed_job.h"

namespace cpt {
namespace {

// Keeps validations, those of stopped and resumed runs, too.
class ValidationRecorder : public Recorder {
 public:
  void validated(const Validation& validation) override { validations.push_back(validation); }
  std::vector<Validation> validations;
};

void expect_same_validations(const std::vector<Validation>& a, const std::vector<Validation>& b) {
  ASSERT_EQ(a.size(), b.size());
  for (std::size_t i = 0; i < a.size(); ++i) {
    SCOPED_TRACE("validation " + std::to_string(i));
    EXPECT_EQ(a[i].pass, b[i].pass);
    EXPECT_EQ(a[i].examples, b[i].examples);
    EXPECT_EQ(a[i].value, b[i].value);
    EXPECT_EQ(a[i].without_improvement, b[i].without_improvement);
    expect_same_losses(a[i].losses, b[i].losses);
  }
}

// Two passes over shards of uneven lengths, 2,100 examples, and 500 to validate.
class ValidationJob : public ResumedJob {
 public:
  ValidationJob() {
    add_data({random_lines({.seed = 1, .examples = 700}), random_lines({.seed = 2, .examples = 400, .first_label = 20}),
              "", random_lines({.seed = 3, .examples = 1000, .first_label = 40})});
    options.validation.data = {folder.write("v0", random_lines({.seed = 7, .examples = 300})),
                               folder.write("v1", random_lines({.seed = 8, .examples = 200, .first_label = 50}))};
    options.validation.every = 450;
    options.passes = 2;
  }

  Summary run(int ranks, const TrainingOptions& with, Ask ask = {.request = Request::kNone}) {
    Staging staging;
    staging.observer = &recorder;
    staging.model = folder / "model";
    staging.options_of = [ask](int rank, TrainingOptions& of_rank) {
      if (rank != ask.rank) return;
      of_rank.checkpoints.requested = [ask, calls = std::uint64_t{0}]() mutable {
        return ++calls == ask.call ? ask.request : Request::kNone;
      };
    };
    std::vector<Ending> endings = train_on(ranks, with, staging);
    is_stopped = endings[0].fault == Fault::kStopped;
    if (!endings[0].result) {
      EXPECT_TRUE(is_stopped) << endings[0].error;
      return {};
    }
    return endings[0].result->summary;
  }

  Folder folder;
  ValidationRecorder recorder;
  bool is_stopped = false;
};

TEST(Validations, ComeEveryNExamplesAndAfterEachPass) {
  ValidationJob job;
  const Summary summary = job.run(1, job.options);
  std::vector<std::uint64_t> examples;
  for (const Validation& validation : job.recorder.validations) examples.push_back(validation.examples);
  EXPECT_EQ(examples, (std::vector<std::uint64_t>{450, 900, 1350, 1800, 2100, 2550, 3000, 3450, 3900, 4200}));
  EXPECT_EQ(summary.validations, 10U);
  EXPECT_EQ(job.recorder.validations.front().losses.examples, 500U);
}

TEST(Validations, LeaveTrainingAlone) {
  for (const int ranks : {1, 3}) {
    ValidationJob job;
    const Summary with = job.run(ranks, job.options);
    job.options.validation = {};
    const Summary without = job.run(ranks, job.options);
    EXPECT_EQ(with.tree.digest, without.tree.digest);
    EXPECT_EQ(with.weight_digest, without.weight_digest);
    expect_same_losses(with.train, without.train);
  }
}

TEST(Validations, AreThoseOfAFrozenTestOfTheModel) {
  ValidationJob job;
  job.options.validation.every = 0;
  job.options.passes = 1;
  const Summary summary = job.run(2, job.options);
  TrainingOptions test;
  test.init = (job.folder / "model").string();
  test.test = job.options.validation.data;
  test.test_frozen = true;
  test.model = job.options.model;
  const std::vector<TrainingResult> results = results_on(1, test);
  expect_same_losses(results[0].summary.test, summary.last_validation->losses);
  EXPECT_EQ(summary.last_validation->value, results[0].summary.test.mean_log());
}

TEST(Validations, AreThoseOfOneRank) {
  ValidationJob one;
  one.run(1, one.options);
  for (const int ranks : {2, 3, 5}) {
    SCOPED_TRACE(ranks);
    ValidationJob job;
    job.run(ranks, job.options);
    expect_same_validations(job.recorder.validations, one.recorder.validations);
  }
}

TEST(Validations, OfReplicasAndHybridRunsAreTheSameInEveryRun) {
  for (const Placement placement : {Placement::kReplicated, Placement::kHybrid}) {
    std::vector<Validation> first;
    for (int run = 0; run < 2; ++run) {
      ValidationJob job;
      job.options.placement = placement;
      job.run(3, job.options);
      EXPECT_GE(job.recorder.validations.size(), 6U);
      if (run == 0) first = job.recorder.validations;
      expect_same_validations(job.recorder.validations, first);
    }
  }
}

TEST(Validations, EndTrainingEarlyAndKeepTheBestModel) {
  for (const int ranks : {1, 2}) {
    ValidationJob job;
    job.options.passes = 40;
    job.options.validation.keep_best = Metric::kLog;
    job.options.validation.early_stop = 3;
    const Summary summary = job.run(ranks, job.options);
    EXPECT_TRUE(summary.stopped_early);
    EXPECT_EQ(summary.last_validation->without_improvement, 3U);
    EXPECT_LT(summary.last_validation->pass, 40U);
    TrainingOptions test;
    test.init = (job.folder / "model").string();
    test.test = job.options.validation.data;
    test.test_frozen = true;
    test.model = job.options.model;
    EXPECT_EQ(results_on(1, test)[0].summary.test.mean_log(), summary.best_validation->value);
  }
}

TEST(Validations, KeepTheBestModelOfTrainingInProcess) {
  ValidationJob job;
  job.options.passes = 40;
  job.options.validation.keep_best = Metric::kLog;
  job.options.validation.early_stop = 3;
  EXPECT_EQ(thrown_by([&] { train(job.options, job.recorder); }).text,
            "--keep-best needs a directory to write models to");
  job.options.model_directory = job.folder / "above/best";
  const TrainedModel trained = train(job.options, job.recorder);
  EXPECT_TRUE(trained.summary.stopped_early);
  EXPECT_NE(trained.model.digests().weights, trained.summary.weight_digest) << "the last model is another one";
  EXPECT_EQ(digests_of(trained.model), digests_of(Model::load(job.options.model_directory)));
  TrainingOptions test;
  test.init = job.options.model_directory.string();
  test.test = job.options.validation.data;
  test.test_frozen = true;
  test.model = job.options.model;
  EXPECT_EQ(results_on(1, test)[0].summary.test.mean_log(), trained.summary.best_validation->value);

  job.options.validation.keep_best.reset();
  const TrainedModel last = train(job.options, job.recorder);
  EXPECT_EQ(last.model.digests().weights, last.summary.weight_digest);
  EXPECT_EQ(digests_of(last.model), digests_of(Model::load(job.options.model_directory)));
}

TEST(Validations, AreThoseOfARunThatNeverStopped) {
  ValidationJob straight;
  straight.options.passes = 40;
  straight.options.validation.keep_best = Metric::kSquared;
  straight.options.validation.early_stop = 2;
  const Summary expected = straight.run(1, straight.options);
  ASSERT_TRUE(expected.stopped_early);
  int stops = 0;
  for (const int ranks : {1, 3}) {
    for (const std::uint64_t call : {2U, 5U, 9U, 14U, 23U, 40U, 60U}) {
      SCOPED_TRACE(std::to_string(ranks) + " ranks, stopped at call " + std::to_string(call));
      ValidationJob job;
      job.options.passes = 40;
      job.options.validation.keep_best = Metric::kSquared;
      job.options.validation.early_stop = 2;
      job.run(ranks, job.resumable(), {.call = call});
      stops += job.is_stopped ? 1 : 0;
      const Summary summary = job.run(2, job.resumable());
      expect_same_validations(job.recorder.validations, straight.recorder.validations);
      expect_same_losses(summary.best_validation->losses, expected.best_validation->losses);
      EXPECT_EQ(summary.validations, expected.validations);
      EXPECT_EQ(summary.weight_digest, expected.weight_digest);
      EXPECT_TRUE(summary.stopped_early);
    }
  }
  EXPECT_GE(stops, 8);
}

TEST(Validations, AreThoseOfARunThatHadAllPassesFromTheStart) {
  ValidationJob straight;
  straight.options.passes = 40;
  straight.options.validation.keep_best = Metric::kLog;
  straight.options.validation.early_stop = 5;
  const Summary expected = straight.run(1, straight.options);
  ASSERT_TRUE(expected.stopped_early);
  ASSERT_GE(expected.best_validation->pass, 2U);
  for (const int ranks : {1, 2}) {
    ValidationJob job;
    job.options.validation = {
        .data = job.options.validation.data, .every = 450, .keep_best = Metric::kLog, .early_stop = 5};
    Summary summary;
    for (std::uint32_t passes = 1; passes <= expected.last_validation->pass; ++passes) {
      job.options.passes = passes;
      summary = job.run(ranks, job.resumable());
    }
    expect_same_validations(job.recorder.validations, straight.recorder.validations);
    EXPECT_EQ(summary.validations, expected.validations);
    EXPECT_EQ(summary.best_validation->examples, expected.best_validation->examples);
    EXPECT_EQ(digests_of(Model::load(job.folder / "model")).weights,
              digests_of(Model::load(straight.folder / "model")).weights);
    EXPECT_THAT(job.recorder.warnings, ::testing::IsEmpty());
  }
}

// The figures of a run that gets new shards are those of its last stage.
TEST(Validations, CountAnewAfterNewShards) {
  ValidationJob job;
  job.options.validation.keep_best = Metric::kLog;
  const std::uint64_t before = job.run(1, job.resumable()).validations;
  job.add_shard("new", random_lines({.seed = 5, .examples = 500, .first_label = 60}));
  const Summary summary = job.run(1, job.resumable());
  EXPECT_EQ(before, 10U);
  EXPECT_EQ(summary.validations, 4U);
  EXPECT_EQ(summary.train.examples, 1000U);
}

// Of the stage before, the model stays unless one is better by the same data.
TEST(Validations, OfNewShardsReplaceTheModelOnlyByABetterOne) {
  ValidationJob job;
  job.options.validation.keep_best = Metric::kLog;
  const Summary before = job.run(1, job.resumable());
  const std::uint64_t kept = digests_of(Model::load(job.folder / "model")).weights;
  job.add_shard("worse", random_lines({.seed = 5, .examples = 500, .first_label = 90}));
  const Summary worse = job.run(1, job.resumable());
  ASSERT_TRUE(worse.best_validation);
  EXPECT_EQ(worse.best_validation->value, before.best_validation->value);
  EXPECT_EQ(worse.last_validation->without_improvement, worse.validations);
  EXPECT_EQ(digests_of(Model::load(job.folder / "model")).weights, kept);
  EXPECT_THAT(job.recorder.warnings, ::testing::IsEmpty());

  job.folder.write("v1", random_lines({.seed = 9, .examples = 200, .first_label = 90}));
  job.add_shard("other", random_lines({.seed = 6, .examples = 500, .first_label = 90}));
  const Summary other = job.run(1, job.resumable());
  ASSERT_TRUE(other.best_validation);
  EXPECT_GT(other.best_validation->examples, 0U);
  EXPECT_NE(digests_of(Model::load(job.folder / "model")).weights, kept);
}

// A request merges copies early, which is another run; but whether the job stops there or goes on is the same.
TEST(Validations, OfCopiesAreThoseOfTheRunThatWentOn) {
  for (const Placement placement : {Placement::kReplicated, Placement::kHybrid}) {
    int stops = 0;
    for (const std::uint64_t call : {2U, 4U, 7U, 11U}) {
      SCOPED_TRACE("stopped at call " + std::to_string(call));
      ValidationJob straight;
      straight.options.placement = placement;
      const Summary expected = straight.run(3, straight.resumable(), {.request = Request::kCheckpoint, .call = call});
      ValidationJob job;
      job.options.placement = placement;
      job.run(3, job.resumable(), {.call = call});
      stops += job.is_stopped ? 1 : 0;
      const Summary summary = job.is_stopped ? job.run(3, job.resumable()) : expected;
      expect_same_validations(job.recorder.validations, straight.recorder.validations);
      EXPECT_EQ(summary.validations, expected.validations);
      EXPECT_EQ(summary.weight_digest, expected.weight_digest);
    }
    EXPECT_GE(stops, 2);
  }
}

// A metric without samples has no value, and a checkpoint must keep that, too.
TEST(Validations, WithoutSamplesOfTheMetricAreResumed) {
  int stops = 0;
  for (const std::uint64_t call : {6U, 14U, 30U}) {
    SCOPED_TRACE(call);
    ValidationJob job;
    job.options.validation.data = {
        job.folder.write("unknown", random_lines({.seed = 9, .examples = 60, .first_label = 5000}))};
    job.options.validation.keep_best = Metric::kLogSeen;
    job.run(2, job.resumable(), {.call = call});
    stops += job.is_stopped ? 1 : 0;
    const Summary summary = job.run(2, job.resumable());
    EXPECT_EQ(summary.validations, 10U);
    EXPECT_EQ(summary.last_validation->without_improvement, 0U);
    EXPECT_TRUE(std::isnan(summary.last_validation->value));
    EXPECT_FALSE(summary.best_validation);
  }
  EXPECT_GE(stops, 2);
}

// A crash between a validation and the next checkpoint leaves a model that the resumed run may never have.
TEST(Validations, WhoseBestModelIsGoneLeaveTheLastOne) {
  ValidationJob other;
  other.options.passes = 1;
  other.run(1, other.options);
  const std::filesystem::path other_model = other.folder / "model";
  const auto prepare = [](ValidationJob& job) {
    job.options.passes = 40;
    job.options.validation.keep_best = Metric::kLog;
    job.options.validation.early_stop = 4;
  };
  ValidationJob straight;
  prepare(straight);
  const std::uint64_t best = straight.run(1, straight.options).best_validation->examples;
  int replaced = 0;  // by another model, then by none
  for (std::uint64_t call = 4; call < 200 && replaced < 2; call += 2) {
    ValidationJob job;
    prepare(job);
    job.run(1, job.resumable(), {.call = call});
    if (!job.is_stopped || job.recorder.validations.empty() || job.recorder.validations.back().examples <= best)
      continue;
    const std::filesystem::path model = job.folder / "model";
    std::filesystem::remove_all(model);
    if (++replaced == 1) std::filesystem::copy(other_model, model, std::filesystem::copy_options::recursive);
    const Summary summary = job.run(2, job.resumable());
    EXPECT_TRUE(summary.stopped_early);
    EXPECT_THAT(job.recorder.warnings, ::testing::Contains(::testing::HasSubstr("is not the model of the best")));
    EXPECT_EQ(digests_of(Model::load(model)).weights, summary.weight_digest);
  }
  EXPECT_EQ(replaced, 2);
}

TEST(Validations, ThatEndAResumedRunKeepItsCountOfBadLines) {
  const auto prepare = [](ValidationJob& job) {
    job.options.passes = 40;
    job.options.skip_bad_lines = true;
    job.options.validation.early_stop = 1;
    job.add_shard("bad", "label | word:abc\n" + random_lines({.seed = 4, .examples = 300}));
  };
  ValidationJob straight;
  prepare(straight);
  const Summary expected = straight.run(2, straight.options);
  ASSERT_TRUE(expected.stopped_early);
  ASSERT_GE(expected.train_error_lines, 1U);
  const std::uint64_t calls = straight.calls(2, 0);  // the last ones come while it validates
  int stops = 0;
  for (std::uint64_t call = calls - 12; call <= calls; ++call) {
    SCOPED_TRACE(call);
    ValidationJob job;
    prepare(job);
    job.run(2, job.resumable(), {.call = call});
    if (!job.is_stopped) continue;
    ++stops;
    EXPECT_EQ(job.run(2, job.resumable()).train_error_lines, expected.train_error_lines);
  }
  EXPECT_GE(stops, 6);
}

TEST(Validations, AreNotBegunInAResumedRun) {
  ValidationJob job;
  TrainingOptions without = job.resumable();
  without.validation = {};
  job.run(1, without, {.call = 3});
  ASSERT_TRUE(job.is_stopped);
  const std::vector<Ending> endings = train_on(1, job.resumable());
  EXPECT_EQ(endings[0].fault, Fault::kUsage);
  EXPECT_NE(endings[0].error.find("--validate"), std::string::npos) << endings[0].error;
}

TEST(Validations, RefuseOtherDataInAResumedRun) {
  ValidationJob job;
  job.run(1, job.resumable(), {.call = 3});
  ASSERT_TRUE(job.is_stopped);
  job.folder.write("v1", random_lines({.seed = 9, .examples = 200}));
  const std::vector<Ending> endings = train_on(1, job.resumable());
  EXPECT_EQ(endings[0].fault, Fault::kBadData);
  EXPECT_NE(endings[0].error.find("--validate are not those of the checkpoint"), std::string::npos) << endings[0].error;
}

TEST(Validations, WithoutAnyExampleAreAnError) {
  ValidationJob job;
  job.options.validation.data = {job.folder.write("empty", "")};
  for (const Ending& ending : train_on(2, job.options)) {
    EXPECT_EQ(ending.fault, Fault::kBadData);
    EXPECT_NE(ending.error.find("have no example"), std::string::npos) << ending.error;
  }
}

// Before anything is learned.
TEST(Validations, WithABadFirstLineAreAnErrorAtTheStart) {
  ValidationJob job;
  const std::string good = random_lines({.seed = 7, .examples = 3});
  job.options.validation.data = {job.folder.write("good", good), job.folder.write("bad", "l |a f:x\n" + good)};
  for (const Ending& ending : train_on(2, job.options, {.observer = &job.recorder})) {
    EXPECT_EQ(ending.fault, Fault::kBadData);
    EXPECT_NE(ending.error.find("bad:1:"), std::string::npos) << ending.error;
  }
  EXPECT_TRUE(job.recorder.reports.empty());
  job.options.skip_bad_lines = true;
  for (const Ending& ending : train_on(2, job.options)) EXPECT_TRUE(ending.result) << ending.error;
}

TEST(Validations, AreValuedByTheMeanThatTheMetricNames) {
  Losses losses;
  losses.add_new(1);
  losses.add_seen(1, 0.5);
  losses.add_seen(1, 0.25);
  losses.add_other_squares(2, 0.125);
  losses.add_top1(1, false);
  losses.add_top1(4, true);
  const double log_seen = std::log(2.0) + std::log(4.0);
  const std::vector<std::pair<Metric, double>> values = {
      {Metric::kLog, (log_seen + std::log(1e6)) / 3},    {Metric::kLogSeen, log_seen / 2},
      {Metric::kSquared, (1 + 0.25 + 0.5625) / 3},       {Metric::kSquaredSeen, (0.25 + 0.5625) / 2},
      {Metric::kBrierSeen, (0.25 + 0.5625) / 2 + 0.125}, {Metric::kTop1ErrorSeen, 0.2}};
  for (const auto& [metric, value] : values) {
    EXPECT_NEAR(value_of(metric, losses), value, 1e-6 * value) << static_cast<int>(metric);
  }
}

TEST(Validations, WithoutSamplesOfTheMetricAreNotBetter) {
  Summary summary;
  Losses losses;
  losses.add_new(1);
  Validation validation;
  validation.value = value_of(Metric::kBrierSeen, losses);
  EXPECT_NE(validation.value, validation.value);
  EXPECT_FALSE(enter_validation(validation, summary));
  validation.value = 0.5;
  EXPECT_TRUE(enter_validation(validation, summary));
  EXPECT_FALSE(enter_validation(validation, summary));
  EXPECT_EQ(summary.last_validation->without_improvement, 1U);
  EXPECT_TRUE(is_to_stop_early({.data = {}, .every = 0, .keep_best = {}, .early_stop = 1}, summary));
}

TEST(WarningOfOtherExamples, IsGivenWhereNewLabelsAreLeftOut) {
  Summary summary;
  EXPECT_EQ(warning_of_other_examples(Metric::kLogSeen, summary), "");
  Validation validation;
  validation.losses.new_labels = 7;
  summary.best_validation = summary.last_validation = validation;
  EXPECT_EQ(warning_of_other_examples(Metric::kLogSeen, summary), "") << "of the same examples";
  summary.last_validation->losses.new_labels = 5;
  for (const Metric metric : {Metric::kLogSeen, Metric::kSquaredSeen, Metric::kBrierSeen, Metric::kTop1ErrorSeen}) {
    EXPECT_EQ(
        warning_of_other_examples(metric, summary),
        "validations are compared by different examples: the last one leaves out 5 whose labels are new, the best "
        "one 7; while labels still arrive, compare by log or squared, which leave out none");
  }
  for (const Metric metric : {Metric::kLog, Metric::kSquared})
    EXPECT_EQ(warning_of_other_examples(metric, summary), "");
}

}  // namespace
}  // namespace cpt
