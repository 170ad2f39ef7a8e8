// The partitioned placement computes what one rank computes, to the last bit: whatever the number of ranks, the length
// of rounds, the kind of model, and wherever labels turn up.
#include "model/learning/learner.h"
#include "model/random_stream.h"
#include "train/on_cores.h"
#include "train/partitioned/partitioned_job.h"

namespace cpt {
namespace {

using Partitioned = PartitionedJob;
INSTANTIATE_TEST_SUITE_P(Ranks, Partitioned,
                         ::testing::Values(Layout{2, 1}, Layout{2, 2}, Layout{3, 3}, Layout{5, 2}, Layout{8, 1},
                                           Layout{17, 3}),
                         name_of_layout);

Shards even_shards(std::size_t count, std::size_t examples = 400, std::size_t labels = 90) {
  Shards shards;
  for (std::size_t i = 0; i < count; ++i) {
    shards.push_back(random_lines({.seed = i + 1, .examples = examples, .labels = labels, .first_label = 50 * i}));
  }
  return shards;
}

TEST_P(Partitioned, IsOneRankWithAllKindsOfModel) {
  add_data(even_shards(8));
  for (const Loss loss : {Loss::kSquared, Loss::kLogistic}) {
    for (const Update update : {Update::kSafe, Update::kAdaptive, Update::kSgd}) {
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

TEST_P(Partitioned, IsOneRankWithSeveralTrees) {
  add_data(even_shards(6, 300));
  set_test(random_lines({.seed = 9, .examples = 300, .labels = 200, .first_label = 100}));
  options_.passes = 2;
  for (const int trees : {2, 3, kMostTrees}) {
    for (const Method method : {Method::kTree, Method::kConditionalPecoc}) {
      SCOPED_TRACE(std::to_string(trees) + " trees, method " + std::to_string(static_cast<int>(method)));
      options_.model.trees = trees;
      options_.model.method = method;
      expect_that_of_one_rank();
    }
  }
  options_.model.tree = TreeKind::kRandom;
  expect_that_of_one_rank();
}

TEST_P(Partitioned, IsOneRankWhateverTheLengthOfRounds) {
  add_data(even_shards(6, 300, 100));
  const Outcome one = outcome_on(1, options_);
  for (const std::uint64_t length : {1U, 7U, 64U, 500U, 100000U}) {
    SCOPED_TRACE("rounds of " + std::to_string(length));
    options_.round_examples = length;
    expect_same(outcome_on(ranks(), options_, staging()), one);
  }
}

TEST_P(Partitioned, IsOneRankWithUnevenAndEmptyShards) {
  add_data({random_lines({.seed = 1, .examples = 900, .labels = 200}), "",
            random_lines({.seed = 2, .examples = 3, .labels = 3}), "\n\n",
            random_lines({.seed = 3, .examples = 120, .labels = 30, .first_label = 40}),
            random_lines({.seed = 4, .examples = 1, .labels = 1, .first_label = 1000})});
  expect_that_of_one_rank();
}

TEST_P(Partitioned, IsOneRankWithFewerShardsThanRanks) {
  add_data({random_lines({.examples = 1500, .labels = 300})});
  expect_that_of_one_rank();
}

TEST_P(Partitioned, IsOneRankInBurstsOfNewLabels) {
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

TEST_P(Partitioned, IsOneRankInEveryPassAndInTheTestPart) {
  add_data(even_shards(5, 200, 60));
  set_test(random_lines({.seed = 9, .examples = 700, .labels = 200, .first_label = 100}));
  options_.passes = 3;
  for (const bool frozen : {false, true}) {
    SCOPED_TRACE(frozen ? "frozen" : "learning");
    options_.test_frozen = frozen;
    expect_that_of_one_rank();
  }
}

TEST_P(Partitioned, IsOneRankWithOneLabel) {
  add_data({"only | a\nonly | b\n", "only | a b\n", "only | c\n"});
  expect_that_of_one_rank();
}

TEST_P(Partitioned, EndsOnAllRanksWithoutAnyExample) {
  add_data({"", "\n"});
  for (const Ending& ending : train_on(ranks(), options_, staging())) {
    EXPECT_EQ(ending.fault, Fault::kBadData) << ending.error;
  }
}

TEST_P(Partitioned, IsOneRankWithLinesOfSeveralLabels) {
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

// However many examples a round is to hold, it does not hold more than so many features.
TEST_P(Partitioned, RoundsOfLongExamplesAreShort) {
  std::string lines;
  for (std::size_t i = 0; i < 700; ++i) {
    lines += std::to_string(i % 40) + " |";
    for (std::size_t f = 0; f < 2000; ++f) lines += " " + std::to_string(f * (1 + i % 3));
    lines += "\n";
  }
  add_data({lines});
  options_.round_examples = 100000;
  options_.model.rarity = false;  // a renewal would end a round
  expect_that_of_one_rank();
  const std::vector<TrainingResult> results = results_on(ranks(), options_, staging());
  // Two of 128 are read before any is heard of.
  EXPECT_EQ(results[0].summary.rounds, 2 + (700 - 2 * 128 + 64) / 65U);
}

TEST(PartitionedRounds, AreLongerWhereRanksShareACore) {
  const std::vector<std::size_t> cores = allowed_cores();
  if (cores.size() < 2) GTEST_SKIP() << "needs two cores";
  const Folder folder;
  TrainingOptions options = small_job();
  options.placement = Placement::kPartitioned;
  for (const std::string name : {"a", "b"}) {
    const std::size_t first = name == "a" ? 0 : 10000;
    options.data.push_back(
        folder.write(name, random_lines({.examples = 20000, .labels = 10000, .first_label = first})));
  }
  const auto results_with = [&](auto core_of) {
    const auto bind = [&](int rank, TrainingOptions&) { bind_to({core_of(static_cast<std::size_t>(rank))}); };
    return results_on(2, options, {.options_of = bind});
  };
  const std::vector<TrainingResult> apart = results_with([&](std::size_t rank) { return cores[rank]; });
  const std::vector<TrainingResult> together = results_with([&](std::size_t) { return cores[0]; });
  EXPECT_LT(together[0].summary.rounds, apart[0].summary.rounds);
  EXPECT_EQ(digests_of(together[0].model), digests_of(apart[0].model));
}

using PartitionedCounts = PartitionedJob;
INSTANTIATE_TEST_SUITE_P(Ranks, PartitionedCounts, ::testing::Values(Layout{3, 2}), name_of_layout);

// Enough examples for intervals of which only a part is counted; one shard ends in the middle of them.
TEST_P(PartitionedCounts, AreThoseOfOneRank) {
  Dice dice(3);
  const auto lines = [&](std::size_t count) {
    std::string text;
    for (std::size_t i = 0; i < count; ++i) {
      const std::size_t label = dice.below(20);
      text += std::to_string(label) + " | a" + std::to_string(label) + " b" + std::to_string(dice.below(500)) + "\n";
    }
    return text;
  };
  add_data({lines(20000), lines(12000), lines(20000)});
  expect_that_of_one_rank();
  const std::vector<TrainingResult> results = results_on(ranks(), options_, staging());
  std::uint64_t units = 0;
  for (const FeatureCounts::Stored& stored : results[0].model.learner().feature_counts().stored())
    units += stored.units;
  const double counted = static_cast<double>(units) / FeatureCounts::kUnitsOfOne / 52000;
  EXPECT_GT(counted, 2.5);  // of the three features of an example
  EXPECT_LT(counted, 3.5);
  EXPECT_NE(counted, 3);
}

TEST_P(Partitioned, EveryRankHoldsWhatItOwnsAndNoMore) {
  add_data(even_shards(4));
  std::uint64_t used = 0;
  const std::vector<TrainingResult> results = results_on(ranks(), options_, staging());
  for (std::size_t rank = 0; rank < results.size(); ++rank) {
    const Learner& learner = results[rank].model.learner();
    for (Partition p = 0; p < kPartitions; ++p) {
      const std::uint64_t here = learner.weights().survey(p).used;
      used += here;
      if (results[rank].model.owners()[p] != static_cast<int>(rank)) {
        EXPECT_EQ(here, 0U) << "partition " << p;
      }
    }
  }
  EXPECT_EQ(used, results[0].summary.rows_used);
}

}  // namespace
}  // namespace cpt
