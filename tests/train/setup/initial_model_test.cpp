// A run that begins with a finished model goes on as the run that made it would have, or only scores, on any number of
// ranks and in both placements.
#include <gmock/gmock.h>

#include "api/model_files.h"
#include "model/learning/learner.h"
#include "train/errors.h"
#include "train/files_in.h"

namespace cpt {
namespace {

namespace fs = std::filesystem;
using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::StartsWith;

// The parts that make up a run, each a few shards, and the model that the first one leaves.
class InitialModel : public ::testing::TestWithParam<int> {
 protected:
  InitialModel() {
    first_.placement = Placement::kPartitioned;
    first_.sync_examples = 400;
    first_.model = {.alpha = 0.7, .loss = Loss::kLogistic, .learning_rate = 0.8, .clip = 0.01, .bits = 16, .seed = 3};
    first_.model.normalize = Normalize::kL2;
    first_.data = part("first", 1, 0);
  }

  int ranks() const { return GetParam(); }
  fs::path model() const { return folder_ / "model"; }

  std::vector<std::string> part(const std::string& name, std::uint64_t seed, std::size_t first_label) const {
    std::vector<std::string> shards;
    for (std::size_t i = 0; i < 3; ++i) {
      const Lines lines{.seed = seed + i, .examples = 500, .labels = 250, .first_label = first_label + 100 * i};
      shards.push_back(folder_.write(name + std::to_string(i), random_lines(lines)));
    }
    return shards;
  }

  // Trains on the first part alone and saves what comes of it.
  TrainedModel save_first() const {
    TrainingResult result = std::move(results_on(1, first_)[0]);
    TrainedModel trained{std::move(result.model).into_model(), result.summary};
    trained.model.save(model());
    return trained;
  }

  // A run that begins with the model and knows nothing of its options.
  TrainingOptions from_model() const {
    TrainingOptions options;
    options.init = model().string();
    options.placement = Placement::kPartitioned;
    options.sync_examples = 400;
    return options;
  }

  Folder folder_;
  TrainingOptions first_ = small_job();
  std::vector<std::string> second_ = part("second", 7, 200);  // many of its labels are new
};
INSTANTIATE_TEST_SUITE_P(Ranks, InitialModel, ::testing::Values(1, 2, 3, 8));

void expect_same_model(const Summary& a, const Summary& b) {
  EXPECT_EQ(a.tree.digest, b.tree.digest);
  EXPECT_EQ(a.tree.disagreements, b.tree.disagreements);
  EXPECT_EQ(a.weight_digest, b.weight_digest);
  EXPECT_EQ(a.rows_used, b.rows_used);
}

// One rank's learned test part comes after its training data, like the data of a run that begins with their model.
TEST_P(InitialModel, GoesOnBitForBit) {
  for (const TreeKind tree : {TreeKind::kOnline, TreeKind::kRandom}) {
    for (const Update update : {Update::kAdaptive, Update::kSgd}) {
      SCOPED_TRACE("tree " + std::to_string(static_cast<int>(tree)) + ", update " +
                   std::to_string(static_cast<int>(update)));
      first_.model.tree = tree;
      first_.model.update = update;
      const std::uint64_t labels = save_first().summary.tree.labels;
      TrainingOptions both = first_;
      both.test = second_;
      const TrainingResult in_one_go = std::move(results_on(1, both)[0]);
      ASSERT_GT(in_one_go.summary.tree.labels, labels + 50);

      TrainingOptions options = from_model();
      options.data = second_;
      for (const TrainingResult& result : results_on(ranks(), options)) {
        expect_same_model(result.summary, in_one_go.summary);
        expect_same_losses(result.summary.train, in_one_go.summary.test);
        EXPECT_TRUE(result.summary.trained);
      }
      options.data.clear();
      options.test = second_;
      for (const TrainingResult& result : results_on(ranks(), options)) {
        expect_same_model(result.summary, in_one_go.summary);
        expect_same_losses(result.summary.test, in_one_go.summary.test);
        EXPECT_FALSE(result.summary.trained);
      }
    }
  }
}

TEST_P(InitialModel, ScoresAsTheRunThatMadeIt) {
  first_.test = second_;
  first_.test_frozen = true;
  const Summary made = save_first().summary;
  ASSERT_GT(made.test.new_labels, 100U);
  ASSERT_LT(made.test.mean_log_seen(), 6);

  TrainingOptions options = from_model();
  options.test = second_;
  options.test_frozen = true;
  ASSERT_FALSE(options.learns());
  Recorder recorder;
  for (const TrainingResult& result : results_on(ranks(), options, {.observer = &recorder})) {
    expect_same_model(result.summary, made);
    expect_same_losses(result.summary.test, made.test);
    EXPECT_EQ(result.summary.train.examples, 0U);
    EXPECT_EQ(result.summary.sync_points, 0U);
  }
  for (const Report& report : recorder.reports) EXPECT_EQ(report.phase, Phase::kTest);

  options.placement = Placement::kReplicated;  // each adds up its own examples, so sums may differ in their last bits
  for (const TrainingResult& result : results_on(ranks(), options)) {
    expect_same_model(result.summary, made);
    EXPECT_EQ(result.summary.test.examples, made.test.examples);
    EXPECT_EQ(result.summary.test.new_labels, made.test.new_labels);
    EXPECT_NEAR(result.summary.test.mean_squared(), made.test.mean_squared(), 1e-12);
    EXPECT_NEAR(result.summary.test.mean_log_seen(), made.test.mean_log_seen(), 1e-12);
  }
}

TEST_P(InitialModel, IsHeldInPartsByThoseWhoOwnThem) {
  save_first();
  const auto whole = load_learner(model());
  TrainingOptions options = from_model();
  options.test = second_;
  options.test_frozen = true;
  const std::vector<TrainingResult> results = results_on(ranks(), options);
  for (std::size_t rank = 0; rank < results.size(); ++rank) {
    const WeightTable& weights = results[rank].model.learner().weights();
    for (Partition p = 0; p < kPartitions; ++p) {
      const bool mine = ranks() == 1 || results[rank].model.owners()[p] == static_cast<int>(rank);
      const WeightTable::Survey here = weights.survey(p);
      EXPECT_EQ(here.used, mine ? whole->weights().survey(p).used : 0) << "partition " << p << " on rank " << rank;
      EXPECT_EQ(here.digest, mine ? whole->weights().survey(p).digest : 0);
    }
  }
}

// Where one rank reads all and no label is new, replicas do what it does alone, and merge what it alone has changed.
TEST_P(InitialModel, IsWhatReplicasBeginWith) {
  first_.model.rarity = false;  // replicas renew rarities when they merge
  const Summary made = save_first().summary;
  TrainingOptions options = from_model();
  options.placement = Placement::kReplicated;
  options.sync_examples = 1'000'000;
  options.data = {first_.data[0]};
  options.test = second_;
  options.test_frozen = true;
  const TrainingResult alone = std::move(results_on(1, options)[0]);
  ASSERT_NE(alone.summary.weight_digest, made.weight_digest);
  for (const TrainingResult& result : results_on(ranks(), options)) {
    EXPECT_EQ(result.summary.train.new_labels, 0U);
    EXPECT_EQ(result.summary.tree.digest, made.tree.digest);
    expect_same_losses(result.summary.train, alone.summary.train);
    EXPECT_NEAR(result.summary.test.mean_log_seen(), alone.summary.test.mean_log_seen(), 1e-5);
    EXPECT_EQ(result.summary.rows_used, alone.summary.rows_used);
  }
}

// The train part of the job comes on top of a model, in both placements.
class InitialModelErrors : public Errors {
 protected:
  InitialModelErrors() {
    save("model", 1);
    options_.init = (folder_ / "model").string();
  }

  // A model whose tree is the same whatever the rate.
  void save(const std::string& name, double rate) const {
    TrainingOptions options = options_;
    options.model.tree = TreeKind::kRandom;
    options.model.learning_rate = rate;
    std::move(results_on(1, options)[0].model).into_model().save(folder_ / name);
  }
};
INSTANTIATE_TEST_SUITE_P(, InitialModelErrors, ::testing::Values(Placement::kPartitioned, Placement::kReplicated));

TEST_P(InitialModelErrors, AModelThatIsMissingStopsAll) {
  Staging staging;
  staging.options_of = [&](int rank, TrainingOptions& options) {
    if (rank == 1) options.init = (folder_ / "nowhere").string();
  };
  EXPECT_THAT(agreed_error(Fault::kNoInput, staging), AllOf(StartsWith("rank 1 on "), HasSubstr("nowhere")));
  options_.init = (folder_ / "nowhere").string();
  EXPECT_THAT(agreed_error(Fault::kNoInput), HasSubstr("no such directory"));
}

TEST_P(InitialModelErrors, ADamagedModelStopsAll) {
  flip_bit(folder_ / "model" / "weights", 100);
  EXPECT_THAT(agreed_error(Fault::kBadData), AllOf(HasSubstr("weights"), HasSubstr("checksum")));
}

TEST_P(InitialModelErrors, AnotherModelOnOneRankStopsAll) {
  save("same-tree", 0.5);
  fs::copy(folder_ / "model", folder_ / "copy");
  ASSERT_EQ(load_learner(folder_ / "same-tree")->structure_digest(),
            load_learner(folder_ / "model")->structure_digest());
  for (const char* other : {"same-tree", "copy", ""}) {
    Staging staging;
    staging.options_of = [&](int rank, TrainingOptions& options) {
      if (rank == 2) options.init = other[0] == 0 ? "" : (folder_ / other).string();
    };
    if (std::string(other) == "copy") {
      EXPECT_EQ(results_on(kRanks, options_, staging).size(), static_cast<std::size_t>(kRanks));
    } else {
      EXPECT_THAT(agreed_error(Fault::kUsage, staging), AllOf(StartsWith("rank 2 on "), HasSubstr("another model")));
    }
  }
}

TEST(InitialModelAlone, ReplacesDataOnlyWithATestPart) {
  TrainingOptions options;
  EXPECT_THAT(thrown_by([&] { options.validate(); }).text, AllOf(HasSubstr("--data"), HasSubstr("--init")));
  options.init = "model";
  EXPECT_EQ(thrown_by([&] { options.validate(); }).fault, Fault::kUsage);
  options.test = {"test"};
  EXPECT_EQ(thrown_by([&] { options.validate(); }).fault, std::nullopt);
  options.init.clear();
  EXPECT_EQ(thrown_by([&] { options.validate(); }).fault, Fault::kUsage);
}

}  // namespace
}  // namespace cpt
