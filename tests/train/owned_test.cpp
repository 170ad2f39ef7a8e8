// The owned placement computes what one rank computes, to the last bit: whatever the number of ranks, the length of
// rounds, the kind of model, and wherever labels turn up.
#include <gtest/gtest.h>

#include "model/learner.h"
#include "train/job.h"

namespace cpt {
namespace {

using Shards = std::vector<std::string>;

// All that must not depend on the ranks.
struct Outcome {
  std::uint64_t tree = 0;
  std::uint64_t weights = 0;
  std::uint64_t lines_used = 0;
  std::uint64_t disagreements = 0;
  Losses train;
  Losses test;
  std::vector<Report> reports;
};

Outcome outcome_on(int ranks, const TrainingOptions& options) {
  Recorder recorder;
  Outcome outcome;
  const std::vector<TrainingResult> results = results_on(ranks, options, {.observer = &recorder});
  for (const TrainingResult& result : results) {
    if (&result != &results[0]) {
      EXPECT_EQ(result.summary.tree.digest, outcome.tree);
      EXPECT_EQ(result.summary.weight_digest, outcome.weights);
    }
    outcome.tree = result.summary.tree.digest;
    outcome.weights = result.summary.weight_digest;
    outcome.lines_used = result.summary.lines_used;
    outcome.disagreements = result.summary.tree.disagreements;
    outcome.train = result.summary.train;
    outcome.test = result.summary.test;
  }
  outcome.reports = recorder.reports;
  return outcome;
}

void expect_same(const Outcome& a, const Outcome& b) {
  EXPECT_EQ(a.tree, b.tree);
  EXPECT_EQ(a.weights, b.weights);
  EXPECT_EQ(a.lines_used, b.lines_used);
  EXPECT_EQ(a.disagreements, b.disagreements);
  expect_same_losses(a.train, b.train);
  expect_same_losses(a.test, b.test);
  ASSERT_EQ(a.reports.size(), b.reports.size());
  for (std::size_t i = 0; i < a.reports.size(); ++i) {
    SCOPED_TRACE("report " + std::to_string(i));
    EXPECT_EQ(a.reports[i].phase, b.reports[i].phase);
    EXPECT_EQ(a.reports[i].labels, b.reports[i].labels);
    EXPECT_EQ(a.reports[i].depth_max, b.reports[i].depth_max);
    expect_same_losses(a.reports[i].so_far, b.reports[i].so_far);
    expect_same_losses(a.reports[i].since_last, b.reports[i].since_last);
  }
}

class Owned : public ::testing::TestWithParam<int> {
 protected:
  Owned() {
    options_.placement = Placement::kOwned;
    options_.model.bits = 16;
    options_.epoch_examples = 400;
  }

  void add_data(const Shards& shards) {
    for (const std::string& shard : shards) {
      options_.data.push_back(folder_.write("data" + std::to_string(options_.data.size()), shard));
    }
  }
  void add_test(const std::string& shard) { options_.test = {folder_.write("test", shard)}; }

  void expect_that_of_one_rank() {
    const Outcome one = outcome_on(1, options_);
    expect_same(outcome_on(GetParam(), options_), one);
  }

  Folder folder_;
  TrainingOptions options_;
};
INSTANTIATE_TEST_SUITE_P(Ranks, Owned, ::testing::Values(2, 3, 5, 8, 17));

Shards even_shards(std::size_t count, std::size_t examples = 400, std::size_t labels = 90) {
  Shards shards;
  for (std::size_t i = 0; i < count; ++i) {
    shards.push_back(random_lines({.seed = i + 1, .examples = examples, .labels = labels, .first_label = 50 * i}));
  }
  return shards;
}

TEST_P(Owned, IsOneRankWithAllKindsOfModel) {
  add_data(even_shards(8));
  for (const Loss loss : {Loss::kSquared, Loss::kLogistic}) {
    for (const Update update : {Update::kAdaptive, Update::kSgd}) {
      for (const TreeKind tree : {TreeKind::kOnline, TreeKind::kBalanced, TreeKind::kRandom}) {
        SCOPED_TRACE("loss " + std::to_string(static_cast<int>(loss)) + ", update " +
                     std::to_string(static_cast<int>(update)) + ", tree " + std::to_string(static_cast<int>(tree)));
        options_.model.loss = loss;
        options_.model.update = update;
        options_.model.tree = tree;
        options_.model.learning_rate = update == Update::kSgd ? 0.3 : 1.0;
        expect_that_of_one_rank();
      }
    }
  }
}

TEST_P(Owned, IsOneRankWhateverTheLengthOfRounds) {
  add_data(even_shards(6, 300, 100));
  const Outcome one = outcome_on(1, options_);
  for (const std::uint64_t length : {1U, 7U, 64U, 500U, 100000U}) {
    SCOPED_TRACE("rounds of " + std::to_string(length));
    options_.round_examples = length;
    expect_same(outcome_on(GetParam(), options_), one);
  }
}

TEST_P(Owned, IsOneRankWithUnevenAndEmptyShards) {
  add_data({random_lines({.seed = 1, .examples = 900, .labels = 200}), "",
            random_lines({.seed = 2, .examples = 3, .labels = 3}), "\n\n",
            random_lines({.seed = 3, .examples = 120, .labels = 30, .first_label = 40}),
            random_lines({.seed = 4, .examples = 1, .labels = 1, .first_label = 1000})});
  expect_that_of_one_rank();
}

TEST_P(Owned, IsOneRankWithFewerShardsThanRanks) {
  add_data({random_lines({.examples = 1500, .labels = 300})});
  expect_that_of_one_rank();
}

TEST_P(Owned, IsOneRankWhereAllRanksMeetTheSameNewLabelsAtOnce) {
  Shards shards;
  for (std::size_t i = 0; i < 8; ++i) shards.push_back(random_lines({.seed = i, .examples = 300, .labels = 150}));
  add_data(shards);
  expect_that_of_one_rank();
}

TEST_P(Owned, IsOneRankInBurstsOfNewLabels) {
  Shards shards(4);
  for (std::size_t i = 0; i < shards.size(); ++i) {
    for (std::size_t burst = 0; burst < 6; ++burst) {
      const std::size_t first = 1000 * burst + (burst % 2 == 0 ? 0 : 100 * i);
      shards[i] += random_lines({.seed = 10 * i + burst, .examples = 60, .labels = 60, .first_label = first});
      shards[i] += random_lines({.seed = 90 * i + burst, .examples = 150, .labels = 3, .first_label = first});
    }
  }
  add_data(shards);
  for (const std::uint64_t length : {0U, 40U}) {
    options_.round_examples = length;
    expect_that_of_one_rank();
  }
}

TEST_P(Owned, IsOneRankInEveryPassAndInTheTestPart) {
  add_data(even_shards(5, 200, 60));
  add_test(random_lines({.seed = 9, .examples = 700, .labels = 200, .first_label = 100}));
  options_.passes = 3;
  for (const bool frozen : {false, true}) {
    SCOPED_TRACE(frozen ? "frozen" : "learning");
    options_.test_frozen = frozen;
    expect_that_of_one_rank();
  }
}

TEST_P(Owned, IsOneRankWithOneLabelOrNone) {
  add_data({"only | a\nonly | b\n", "only | a b\n", "only | c\n"});
  expect_that_of_one_rank();
  options_.data.clear();
  add_data({"", "\n"});
  expect_that_of_one_rank();
}

TEST_P(Owned, IsOneRankWithLinesOfSeveralLabels) {
  std::string lines;
  for (std::size_t i = 0; i < 300; ++i) {
    const std::string n = std::to_string(i % 37);
    lines += n + "," + std::to_string(i % 11) + "," + std::to_string(i) + " " + std::to_string(1 + i % 7) + ":1 " +
             std::to_string(9 + i % 13) + ":0.5\n";
  }
  add_data({lines, lines, lines});
  options_.format = Format::kLibsvm;
  options_.multilabel = MultiLabel::kSplit;
  expect_that_of_one_rank();
}

TEST_P(Owned, EveryRankHoldsWhatItOwnsAndNoMore) {
  add_data(even_shards(4));
  std::uint64_t used = 0;
  const std::vector<TrainingResult> results = results_on(GetParam(), options_);
  for (std::size_t rank = 0; rank < results.size(); ++rank) {
    const Learner& learner = results[rank].model.learner();
    for (Partition p = 0; p < kPartitions; ++p) {
      const std::uint64_t here = learner.weights().survey(p).used;
      used += here;
      if (results[rank].owners[p] != static_cast<int>(rank)) {
        EXPECT_EQ(here, 0U) << "partition " << p;
      }
    }
  }
  EXPECT_EQ(used, results[0].summary.lines_used);
}

}  // namespace
}  // namespace cpt
