// The partitioned placement on streams that are hard to share out: hot labels, growth in one place, examples of odd
// sizes. The result is that of one rank, and partitions move to where there is less to do.
#include <cstring>
#include <numeric>

#include "comm/on_machines.h"
#include "model/learning/learner.h"
#include "model/random_stream.h"
#include "train/partitioned/partitioned_job.h"
#include "train/partitioned/wire/shared_example_ring.h"
#include "train/placement/balancer.h"
#include "train/placement/ownership.h"

namespace cpt {
namespace {

class PartitionedStreams : public PartitionedJob {
 protected:
  // The result of each rank.
  std::vector<TrainingResult> results(const Staging& staging = {}) const {
    return results_on(ranks(), options_, staging);
  }
  static std::vector<int> first() {
    const Owners owners = first_owners(ranks(), 1);
    return {owners.begin(), owners.end()};
  }
};
INSTANTIATE_TEST_SUITE_P(Ranks, PartitionedStreams,
                         ::testing::Values(Layout{2, 1}, Layout{3, 3}, Layout{5, 2}, Layout{8, 1}), name_of_layout);

// How many of the examples of vw lines have a label below each partition, or in it.
Loads tasks_of(const Learner& learner, const Shards& shards) {
  Loads tasks(kPartitions);
  std::vector<PathStep> path;
  for (const std::string& shard : shards) {
    std::istringstream lines(shard);
    for (std::string line; std::getline(lines, line);) {
      const std::string name = line.substr(0, line.find(' '));
      learner.tree().path(learner.labels().find(name, hash_label(name)), path);
      for (std::size_t hop = 0; hop < std::min<std::size_t>(path.size(), 3); ++hop) {
        ++tasks[learner.tree().header(path[hop].block).partition];
      }
    }
  }
  return tasks;
}

std::uint64_t most_deep(const Loads& tasks) {
  return *std::max_element(tasks.begin() + 1 + kLevel1Partitions, tasks.end());
}

// 30 % of all examples have one label, which many labels come after.
Shards with_hot_label(std::size_t count) {
  Shards shards;
  for (std::size_t i = 0; i < count; ++i) {
    Dice dice(i);
    std::istringstream others(random_lines({.seed = i + 1, .examples = 500, .labels = 300, .first_label = 100 * i}));
    std::string shard = "hot | h w1\n";
    for (std::string line; std::getline(others, line);) {
      shard += line + '\n';
      if (dice.chance(0.43)) shard += "hot | h w" + std::to_string(dice.below(9)) + '\n';
    }
    shards.push_back(shard);
  }
  return shards;
}

TEST_P(PartitionedStreams, AHotLabel) {
  const Shards shards = with_hot_label(4);
  add_data(shards);
  options_.round_examples = 60;  // many, so that there are loads to compare
  expect_that_of_one_rank();

  const std::vector<TrainingResult> on_all = results();
  const Loads tasks = tasks_of(on_all[0].model.learner(), shards);
  EXPECT_GT(most_deep(tasks) * 4, tasks[kRootPartition]);
  EXPECT_NE(on_all[0].model.owners(), first());
}

// Labels that share one strong feature crowd into one part of the tree, because balance counts for little.
Shards with_a_crowd(std::size_t count) {
  Shards shards;
  for (std::size_t i = 0; i < count; ++i) {
    Dice dice(i + 70);
    std::string shard;
    for (std::size_t n = 0; n < 600; ++n) {
      const std::string own = std::to_string(dice.below(2 + n / 3));
      shard += dice.chance(0.85) ? "crowd-" + own + " | all:5 c" + own + '\n' : "other-" + own + " | o" + own + '\n';
    }
    shards.push_back(shard);
  }
  return shards;
}

TEST_P(PartitionedStreams, GrowthInOnePartOfTheTree) {
  const Shards shards = with_a_crowd(4);
  options_.model.alpha = 0.02;
  add_data(shards);
  options_.round_examples = 60;  // many, so that there are loads to compare
  expect_that_of_one_rank();

  const std::vector<TrainingResult> on_all = results();
  const Loads tasks = tasks_of(on_all[0].model.learner(), shards);
  // Even loads would be a sixteenth at most.
  EXPECT_GT(*std::max_element(tasks.begin() + 1, tasks.begin() + 1 + kLevel1Partitions) * 4, tasks[kRootPartition]);
  EXPECT_NE(on_all[0].model.owners(), first());
}

TEST_P(PartitionedStreams, OwnersThatChangeAllTheTime) {
  add_data(with_hot_label(3));
  options_.sync_examples = 1;
  for (const std::uint64_t length : {0U, 9U}) {
    options_.round_examples = length;
    expect_that_of_one_rank();
  }
  EXPECT_NE(results()[0].model.owners(), first());
}

// Labels all at once, and then examples of them; half of those are one label's, and later another's. They have 2 to 6
// features, so that no two rounds are the same work.
std::string shifting_lines(std::uint64_t seed) {
  constexpr std::size_t kLabelCount = 200;
  constexpr std::size_t kLines = 4000;
  Dice dice(seed);
  std::string lines;
  for (std::size_t n = 0; n < kLines; ++n) {
    const std::size_t hot = n < kLines / 2 ? 7 : 150;
    const std::string label = std::to_string(n < kLabelCount ? n : dice.chance(0.5) ? hot : dice.below(kLabelCount));
    lines += label + " | x" + label + " y" + std::to_string(dice.below(50));
    for (std::size_t more = dice.below(5); more > 0; --more) lines += " z" + std::to_string(dice.below(50));
    lines += '\n';
  }
  return lines;
}

// Of one rank: what it has compared with others, and how often it has left that without an answer.
struct HeardLoads {
  std::vector<RankLoads> all;
  int left = 0;
};

class WatchedOperation : public Operation {
 public:
  WatchedOperation(std::unique_ptr<Operation> inner, int& left) : inner_(std::move(inner)), left_(left) {}
  ~WatchedOperation() override { left_ += done_ ? 0 : 1; }
  bool done() override {
    done_ = done_ || inner_->done();
    return done_;
  }

 private:
  std::unique_ptr<Operation> inner_;
  int& left_;
  bool done_ = false;
};

class LoadsListener : public OnMachines {
 public:
  LoadsListener(Communicator& inner, int machines, HeardLoads& heard) : OnMachines(inner, machines), heard_(heard) {}

 protected:
  std::unique_ptr<Operation> begin_all_gather(ConstBytes mine, Bytes all) override {
    auto begun = OnMachines::begin_all_gather(mine, all);
    if (mine.size() != (kPartitions + 1) * sizeof(std::uint64_t)) return begun;  // loads, and the time
    RankLoads& heard = heard_.all.emplace_back(RankLoads{Loads(kPartitions), 0});
    std::memcpy(heard.of.data(), mine.data(), kPartitions * sizeof(std::uint64_t));
    heard.busy = read_front<std::uint64_t>(mine.last(sizeof(std::uint64_t)));
    return std::make_unique<WatchedOperation>(std::move(begun), heard_.left);
  }

 private:
  HeardLoads& heard_;
};

Staging listening(std::vector<HeardLoads>& heard, int machines) {
  Staging staging;
  staging.wrap = [&heard, machines](Communicator& inner) {
    return std::make_unique<LoadsListener>(inner, machines, heard[static_cast<std::size_t>(inner.rank())]);
  };
  return staging;
}

// Every example passes the root and one partition of level 1, wherever they are and have been: so both have done the
// same, whatever rounds are under way.
TEST_P(PartitionedStreams, LoadsAreOfTheSameRoundsEverywhere) {
  add_data({shifting_lines(1), shifting_lines(2), shifting_lines(3), shifting_lines(4)});
  options_.round_examples = 50;
  options_.sync_examples = 120;
  std::vector<HeardLoads> heard(static_cast<std::size_t>(ranks()));
  EXPECT_NE(results(listening(heard, GetParam().machines))[0].model.owners(), first());

  const std::size_t sync_points = heard[0].all.size();
  ASSERT_GT(sync_points, 50U);
  for (std::size_t interval = 15; interval < sync_points; ++interval) {  // all labels are there
    std::uint64_t root = 0;
    std::uint64_t level1 = 0;
    for (const HeardLoads& of_rank : heard) {
      const auto& [loads, busy] = of_rank.all.at(interval);
      EXPECT_GT(busy, 0U) << "interval " << interval;
      root += loads[kRootPartition];
      level1 += std::accumulate(loads.begin() + 1, loads.begin() + 1 + kLevel1Partitions, std::uint64_t{0});
    }
    EXPECT_EQ(root, level1) << "interval " << interval;
    EXPECT_GT(root, 0U);
  }
}

TEST_P(PartitionedStreams, PartitionsMoveBetweenShortPasses) {
  add_data(with_hot_label(4));
  options_.round_examples = 100'000;  // a pass is a round
  options_.sync_examples = 1;
  options_.passes = 3;
  expect_that_of_one_rank();
  EXPECT_NE(results()[0].model.owners(), first());
}

TEST_P(PartitionedStreams, PartitionsStayAfterTheLastPass) {
  add_data(with_hot_label(4));
  options_.round_examples = 100'000;
  options_.model.rarity = false;  // a renewal would end the only round
  options_.sync_examples = 1;
  options_.passes = 1;
  EXPECT_EQ(results()[0].model.owners(), first());
}

// Whenever a run ends early, nothing is under way into memory that goes away.
TEST_P(PartitionedStreams, AnErrorLeavesNoLoadsWithoutAnswer) {
  options_.round_examples = 40;
  options_.sync_examples = 1;
  for (std::size_t bad = 0; bad < 12; ++bad) {
    SCOPED_TRACE("after " + std::to_string(10 * bad) + " lines");
    const std::string lines = random_lines({.seed = bad, .examples = 10 * bad});
    const std::string more = random_lines({.seed = bad, .examples = 100});
    options_.data = {folder_.write("good", lines + more), folder_.write("bad", lines + "label | word:abc\n" + more)};
    for (const bool skips : {false, true}) {
      options_.skip_bad_lines = skips;
      options_.most_bad_lines = 0;
      std::vector<HeardLoads> heard(static_cast<std::size_t>(ranks()));
      for (const Ending& ending : train_on(ranks(), options_, listening(heard, GetParam().machines))) {
        EXPECT_TRUE(ending.agreed) << ending.error;
      }
      for (const HeardLoads& of_rank : heard) EXPECT_EQ(of_rank.left, 0);
    }
  }
}

// In one round, so that some are in the ring and the others in messages.
TEST_P(PartitionedStreams, MoreThanTheRingHolds) {
  constexpr std::size_t kExamples = 90;
  constexpr std::size_t kFeatures = 5000;
  static_assert(kExamples * kFeatures * sizeof(FeatureHash) > SharedExampleRing::kBytesOfRound);
  std::string words;
  for (std::size_t f = 0; f < kFeatures; ++f) words += " w" + std::to_string(f);
  std::string shard;
  for (std::size_t i = 0; i < kExamples; ++i) shard += "label-" + std::to_string(i % 31) + " |" + words + '\n';
  add_data({shard});
  options_.round_examples = 1000;
  expect_that_of_one_rank();
}

TEST_P(PartitionedStreams, AGiantExample) {
  std::string giant = "giant |";
  for (std::size_t f = 0; f < 20'000; ++f) giant += " g" + std::to_string(f) + ':' + std::to_string(0.001 * double(f));
  const std::string old = random_lines({.seed = 2, .examples = 200});
  // New, then known, and as the last one of all.
  add_data({random_lines({.examples = 300}) + giant + '\n' + old + giant + '\n', old, giant + '\n' + old + giant});
  expect_that_of_one_rank();
}

TEST_P(PartitionedStreams, OddLabelsAndExamplesWithoutFeatures) {
  const std::function<std::string(std::size_t)> lines[] = {
      [](std::size_t i) { return "label-" + std::to_string(i * i % 97) + (i % 5 == 0 ? " | w\n" : " |\n"); },
      // Labels that begin with one another.
      [](std::size_t i) {
        return std::string(1 + i * i % 67, i % 2 == 0 ? 'a' : '0') + " | w" + std::to_string(i % 11) + '\n';
      },
      // Long ones, equal but for their ends.
      [](std::size_t i) {
        const std::string n = std::to_string(i * 7 % 40);
        return i < 160 ? std::string(100'000, 'x') + n + " | w" + n + '\n' : "";
      }};
  for (const auto& line : lines) {
    Shards shards(3);
    for (std::size_t i = 0; i < 900; ++i) shards[i % 3] += line(i);
    options_.data.clear();
    add_data(shards);
    expect_that_of_one_rank();
  }
}

TEST_P(PartitionedStreams, ImportancesOfAllSizes) {
  Shards shards(4);
  Dice dice(5);
  for (std::size_t i = 0; i < 1200; ++i) {
    const std::size_t label = dice.below(2 + i / 9);
    shards[i % 4] += "l" + std::to_string(label) +
                     (i % 3 == 0   ? " 1e-20"
                      : i % 3 == 1 ? " 7.5"
                                   : " 1000") +
                     " | w" + std::to_string(label) + " u" + std::to_string(dice.below(7)) + '\n';
  }
  add_data(shards);
  for (const Update update : {Update::kSafe, Update::kAdaptive, Update::kSgd}) {
    options_.model.update = update;
    options_.model.learning_rate = update == Update::kSgd ? 0.1 : 1.0;
    expect_that_of_one_rank();
  }
}

TEST_P(PartitionedStreams, ShardsThatEndAtDifferentTimes) {
  Shards shards;
  for (std::size_t i = 0; i < 9; ++i) {
    shards.push_back(random_lines(
        {.seed = i, .examples = std::size_t{3} << i, .labels = std::size_t{2} << i, .first_label = 17 * i}));
  }
  add_data(shards);
  set_test(random_lines({.seed = 77, .examples = 55, .labels = 40}));
  options_.passes = 2;
  expect_that_of_one_rank();
}

TEST_P(PartitionedStreams, BadLinesThatAreSkipped) {
  Shards shards;
  for (std::size_t i = 0; i < 4; ++i) {
    std::istringstream lines(random_lines({.seed = i, .examples = 200}));
    std::string shard;
    std::size_t n = 0;
    for (std::string line; std::getline(lines, line); ++n) {
      shard += line + '\n';
      if (n % (3 + i) == 0) shard += n % 2 == 0 ? "label | word:abc\n" : "\n";
    }
    shards.push_back(shard + "label | end:\n");
  }
  add_data(shards);
  options_.skip_bad_lines = true;
  EXPECT_GT(outcome_on(1, options_).bad_lines, 50U);
  expect_that_of_one_rank();
}

TEST(PartitionedByManyRanks, IsOneRank) {
  const Folder folder;
  TrainingOptions options;
  options.model.bits = 14;
  options.sync_examples = 200;
  for (std::size_t i = 0; i < 20; ++i) {
    options.data.push_back(folder.write("shard" + std::to_string(i), random_lines({.seed = i, .examples = 20 * i})));
  }
  const Outcome one = outcome_on(1, options);
  for (const int ranks : {31, 64}) expect_same(outcome_on(ranks, options), one);
}

// Any of a list.
template <class T>
T any(Dice& dice, const std::vector<T>& choices) {
  return choices[dice.below(choices.size())];
}

ModelOptions random_model(Dice& dice) {
  ModelOptions model;
  model.bits = any<int>(dice, {11, 13, 16});
  model.seed = dice.bits();
  model.tree = any<TreeKind>(dice, {TreeKind::kOnline, TreeKind::kBalanced, TreeKind::kRandom});
  model.method = any<Method>(dice, {Method::kTree, Method::kTree, Method::kConditionalPecoc});
  model.arity = any<int>(dice, {4, 8, 16});
  model.alpha = any<double>(dice, {0.02, 0.3, 0.9, 1});
  model.loss = any<Loss>(dice, {Loss::kSquared, Loss::kLogistic});
  model.update = any<Update>(dice, {Update::kSafe, Update::kAdaptive, Update::kSgd});
  model.learning_rate = model.update == Update::kSgd ? 0.2 : 1;
  model.clip = any<double>(dice, {0, 0.001, 0.4});
  if (model.tree != TreeKind::kBalanced) model.trees = any<int>(dice, {1, 1, 2, 3});
  model.calibrate = dice.chance(0.5);
  model.rarity = dice.chance(0.5);
  return model;
}

// Jobs of all kinds at once.
TEST(PartitionedAtRandom, IsOneRank) {
  for (std::uint64_t seed = 0; seed < 40; ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    Dice dice(seed);
    const Folder folder;
    TrainingOptions options;
    options.model = random_model(dice);
    options.passes = static_cast<std::uint32_t>(1 + dice.below(2));
    options.round_examples = any<std::uint64_t>(dice, {0, 1, 10, 90, 5000});
    options.sync_examples = any<std::uint64_t>(dice, {1, 50, 700});
    const auto write_shard = [&](const std::string& name) {
      const std::size_t examples = dice.below(400);
      const std::size_t labels = 1 + dice.below(300);
      return folder.write(
          name,
          random_lines({.seed = dice.bits(), .examples = examples, .labels = labels, .first_label = dice.below(90)}));
    };
    const std::size_t shards = 1 + dice.below(7);
    for (std::size_t i = 0; i < shards; ++i) options.data.push_back(write_shard("data" + std::to_string(i)));
    if (dice.chance(0.5)) options.test = {write_shard("test")};
    options.test_frozen = dice.chance(0.5);
    const int ranks = 2 + static_cast<int>(dice.below(8));
    expect_same(outcome_on(ranks, options), outcome_on(1, options));
    if (HasFailure()) return;
  }
}

}  // namespace
}  // namespace cpt
