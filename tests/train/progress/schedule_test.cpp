// When rounds, merges and reports come.
#include "train/progress/schedule.h"

#include <gtest/gtest.h>

#include <vector>

namespace cpt {
namespace {

TEST(RoundLength, IsAQuarterOfTheLabelsSharedByTheRanksBetweenItsBounds) {
  for (const int ranks : {1, 2, 64, 4096}) EXPECT_EQ(round_length(0, ranks), 4U);
  EXPECT_EQ(round_length(100, 64), 4U);
  EXPECT_EQ(round_length(8000, 2), 1000U);
  EXPECT_EQ(round_length(8000, 8), 250U);
  EXPECT_EQ(round_length(1'000'000, 1000), 250U);
  EXPECT_EQ(round_length(1'000'000, 2), 1024U);
  EXPECT_EQ(round_length(std::uint64_t{1} << 40, 64), 1024U);
}

TEST(RoundLength, NeverShrinksAsTheTreeGrows) {
  for (const int ranks : {1, 2, 3, 5, 8, 64}) {
    for (std::uint64_t labels = 1; labels < 50'000; ++labels) {
      ASSERT_GE(round_length(labels, ranks), round_length(labels - 1, ranks))
          << labels << " labels, " << ranks << " ranks";
    }
  }
}

TEST(PartitionedRoundLength, IsAQuarterOfTheLabelsForEachRankBetweenItsBounds) {
  for (const int ranks : {1, 2, 3, 64, 4096}) {
    const auto r = static_cast<std::uint64_t>(ranks);
    EXPECT_EQ(partitioned_round_length(0, ranks, 1), 32 * r);
    EXPECT_EQ(partitioned_round_length(131, ranks, 1), 32 * r);
    EXPECT_EQ(partitioned_round_length(132, ranks, 1), 33 * r);
    EXPECT_EQ(partitioned_round_length(1000, ranks, 1), 250 * r);
    EXPECT_EQ(partitioned_round_length(4096, ranks, 1), 1024 * r);
    EXPECT_EQ(partitioned_round_length(std::uint64_t{1} << 40, ranks, 1), 1024 * r);
  }
}

TEST(PartitionedRoundLength, GrowsWithTheRanksThatShareACoreUpToABoundOfItsOwn) {
  constexpr std::uint64_t kMany = std::uint64_t{1} << 40;
  EXPECT_EQ(partitioned_round_length(1000, 8, 4), 250U * 8);
  EXPECT_EQ(partitioned_round_length(8000, 8, 4), 2000U * 8);
  EXPECT_EQ(partitioned_round_length(kMany, 4, 2), 2048U * 4);
  EXPECT_EQ(partitioned_round_length(kMany, 8, 4), 4096U * 8);
  EXPECT_EQ(partitioned_round_length(kMany, 16, 8), 65536U);
  EXPECT_EQ(partitioned_round_length(kMany, 64, 32), 65536U);
  EXPECT_EQ(partitioned_round_length(kMany, 100, 50), 1024U * 100);
}

TEST(MostRoundExamples, HoldSoManyFeaturesOfAReaderAndOfAll) {
  EXPECT_EQ(most_round_examples({.examples = 100, .features = 1100, .readers = 1}), (1U << 17) / 11);
  EXPECT_EQ(most_round_examples({.examples = 100, .features = 1100, .readers = 8}), (1U << 20) / 11);
  EXPECT_EQ(most_round_examples({.examples = 100, .features = 1100, .readers = 64}), (1U << 21) / 11);
  EXPECT_EQ(most_round_examples({.examples = 3, .features = 1 << 20, .readers = 2}), 1U);
  EXPECT_EQ(most_round_examples({.examples = 2, .features = std::uint64_t{1} << 40, .readers = 2}), 1U);
}

TEST(MostRoundExamples, AreFewUntilTheirSizeIsKnown) { EXPECT_EQ(most_round_examples({}), 128U); }

using Numbers = std::vector<std::uint64_t>;

// The numbers of all examples at which sync intervals end, with so many examples to a round.
Numbers ends(const SyncRule& rule, std::uint64_t round, std::uint64_t examples) {
  SyncSchedule schedule(rule);
  Numbers ends;
  for (std::uint64_t done = round; done <= examples; done += round) {
    if (schedule.advance(round)) ends.push_back(done);
  }
  return ends;
}

TEST(SyncSchedule, EndsAfterAFixedNumber) {
  EXPECT_EQ(ends({.examples = 100, .fraction = 0.02}, 10, 350), (Numbers{100, 200, 300}));
  EXPECT_EQ(ends({.examples = 100}, 64, 400), (Numbers{128, 256, 384}));
  EXPECT_EQ(ends({.examples = 1}, 8, 24), (Numbers{8, 16, 24}));
}

TEST(SyncSchedule, EndsAfterAFractionOfAllButNotBefore1000) {
  EXPECT_EQ(ends({.fraction = 0.5}, 100, 20'000), (Numbers{1000, 2000, 4000, 8000, 16'000}));
  EXPECT_EQ(ends({.fraction = 1}, 100, 5000), (Numbers{1000}));
  EXPECT_EQ(ends({.fraction = 0.02}, 100, 5000), (Numbers{1000, 2000, 3000, 4000, 5000}));
}

TEST(SyncSchedule, GrowsWithTheDataSeen) {
  const Numbers all = ends({.fraction = 0.02}, 64, 2'000'000);
  std::uint64_t last = 0;
  for (const std::uint64_t end : all) {
    EXPECT_GE(end - last, std::max<std::uint64_t>(1000, end / 50));
    EXPECT_LT(end - last, std::max<std::uint64_t>(1000, end / 50) + 2 * 64);
    last = end;
  }
}

constexpr SyncRule kQuarterOrHalf{.trained_per_merged = 4, .longest = 0.5};
constexpr SyncCounts kMillion{.in_interval = 0, .all = 1'000'000};

// As ends(), by cost: at each round the ranks know rows that grow in proportion to the interval's examples.
Numbers ends_by_cost(std::uint64_t to_merge, std::uint64_t trained, std::uint64_t round, std::uint64_t examples) {
  SyncSchedule schedule(kQuarterOrHalf);
  Numbers ends;
  for (std::uint64_t done = round; done <= examples; done += round) {
    const std::uint64_t in_interval = schedule.counts().in_interval + round;
    schedule.set_rows({.to_merge = to_merge * in_interval, .trained = trained * in_interval});
    if (schedule.advance(round)) ends.push_back(done);
  }
  return ends;
}

TEST(SyncSchedule, EndsByCostAsSoonAsFewRowsAreToBeMergedButNotBefore1000) {
  EXPECT_EQ(ends_by_cost(10, 40, 100, 4000), (Numbers{1000, 2000, 3000, 4000}));
  SyncSchedule schedule(kQuarterOrHalf, kMillion);
  schedule.set_rows({.to_merge = 1001, .trained = 4000});
  EXPECT_FALSE(schedule.advance(5000));
  schedule.set_rows({.to_merge = 1001, .trained = 4004});
  EXPECT_TRUE(schedule.advance(5000));
}

TEST(SyncSchedule, EndsByCostButNotBeforeTheShortestFraction) {
  SyncSchedule schedule({.trained_per_merged = 4, .shortest = 0.02, .longest = 0.5}, kMillion);
  schedule.set_rows({.to_merge = 1, .trained = 4000});
  EXPECT_FALSE(schedule.advance(20'000));
  EXPECT_TRUE(schedule.advance(500));
}

TEST(SyncSchedule, EndsByCostAfterTheLongestFractionAtTheLatest) {
  EXPECT_EQ(ends_by_cost(11, 40, 100, 20'000), (Numbers{1000, 2000, 4000, 8000, 16'000}));
  EXPECT_EQ(ends_by_cost(40, 40, 64, 5000), (Numbers{1024, 2048, 4096}));
}

TEST(SyncSchedule, EndsByCostAfterTheMostRowUpdatesAtTheLatest) {
  SyncSchedule schedule({.trained_per_merged = 4, .longest = 0.5, .most_trained = 9000}, kMillion);
  schedule.set_rows({.to_merge = 9000, .trained = 8999});
  EXPECT_FALSE(schedule.advance(5000));
  schedule.set_rows({.to_merge = 9000, .trained = 9000});
  EXPECT_TRUE(schedule.advance(5000));
}

// The rows that ranks knew before a merge say nothing about the interval after it.
TEST(SyncSchedule, KnowsNoRowsWhenAnIntervalBegins) {
  for (const bool finishes : {false, true}) {
    SyncSchedule schedule(kQuarterOrHalf, kMillion);
    schedule.set_rows({.to_merge = 1, .trained = 100});
    EXPECT_TRUE(schedule.would_end(2000));
    if (finishes) {
      EXPECT_FALSE(schedule.advance(10));
      EXPECT_TRUE(schedule.finish());
    } else {
      EXPECT_TRUE(schedule.advance(2000));
    }
    EXPECT_FALSE(schedule.would_end(2000));
  }
}

TEST(SyncSchedule, DoesNotCountRowsIfAFractionOrANumberIsGiven) {
  for (const SyncRule& rule : {SyncRule{.fraction = 0.5}, SyncRule{.examples = 5000}}) {
    SyncSchedule schedule(rule, {.in_interval = 0, .all = 10'000});
    schedule.set_rows({.to_merge = 0, .trained = 100});
    EXPECT_FALSE(schedule.would_end(4999));
  }
}

TEST(SyncRuleOfOptions, IsWhatWasAskedForOrByCost) {
  TrainingOptions options;
  EXPECT_EQ(sync_rule(options, false, 8).fraction, 0.02);
  EXPECT_EQ(sync_rule(options, true, 8).fraction, 0) << "by cost";
  EXPECT_EQ(sync_rule(options, true, 8).trained_per_merged, 32U) << "a quarter of what each of 8 ranks has trained";
  EXPECT_EQ(sync_rule(options, true, 8).shortest, 0.02);
  EXPECT_EQ(sync_rule(options, true, 8).longest, 0.5);
  EXPECT_EQ(sync_rule(options, true, 8).most_trained, std::uint64_t{1} << 31);
  options.sync_fraction = 0.3;
  EXPECT_EQ(sync_rule(options, true, 8).fraction, 0.3);
  options.sync_examples = 7;
  EXPECT_EQ(sync_rule(options, true, 8).examples, 7U);
}

TEST(SyncSchedule, FinishesWhatWasBegunAndNoEmptyInterval) {
  SyncSchedule schedule({.examples = 100});
  EXPECT_FALSE(schedule.finish());
  EXPECT_FALSE(schedule.advance(60));
  EXPECT_TRUE(schedule.finish());
  EXPECT_FALSE(schedule.finish());
  EXPECT_FALSE(schedule.advance(60));  // counts from the finish on
  EXPECT_TRUE(schedule.advance(40));
  EXPECT_FALSE(schedule.finish());
}

TEST(ReportSchedule, ComesAtPowersOfTwo) {
  ReportSchedule schedule;
  Numbers reports;
  for (std::uint64_t examples = 1; examples <= 100; ++examples) {
    if (schedule.due(examples)) reports.push_back(examples);
  }
  EXPECT_EQ(reports, (Numbers{1, 2, 4, 8, 16, 32, 64}));
}

TEST(ReportSchedule, ComesOnceWhereManyWereDue) {
  ReportSchedule schedule;
  EXPECT_TRUE(schedule.due(37));
  EXPECT_EQ(schedule.next(), 64U);
  EXPECT_FALSE(schedule.due(63));
  EXPECT_TRUE(schedule.due(64));
  EXPECT_EQ(schedule.next(), 128U);
}

}  // namespace
}  // namespace cpt
