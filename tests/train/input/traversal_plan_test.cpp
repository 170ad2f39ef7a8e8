// Which shards are read in which order, and which of them are still to be read.
#include "train/input/traversal_plan.h"

#include <gmock/gmock.h>

#include "cpt/error.h"
#include "train/job.h"

namespace cpt {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::StartsWith;

using Numbers = std::vector<std::uint32_t>;

TrackedShard shard(const std::string& path, std::uint64_t bytes = 100, std::uint64_t head = 7) {
  return {{path, bytes, true}, head, 0, {}};
}

TrackedShard pipe(const std::string& path) { return {{path, 0, false}, 0, 0, {}}; }

// "train 1: 0 1" of every shard_pass until nothing is left.
std::vector<std::string> legs(TraversalPlan& plan) {
  std::vector<std::string> all;
  while (plan.begin_pass()) {
    const ShardPass& shard_pass = plan.shard_pass();
    std::string text = shard_pass.phase == Phase::kTest ? "test:" : "train " + std::to_string(shard_pass.pass) + ":";
    for (const std::uint32_t number : shard_pass.shards) text += " " + std::to_string(number);
    all.push_back(text);
    plan.end_pass();
  }
  return all;
}

using Legs = std::vector<std::string>;

TEST(TraversalPlan, IsAllPassesThenTheTest) {
  TraversalPlan plan({shard("a"), shard("b")}, {shard("t")}, {.passes = 2});
  EXPECT_FALSE(plan.finished());
  EXPECT_EQ(legs(plan), (Legs{"train 1: 0 1", "train 2: 0 1", "test: 0"}));
  EXPECT_TRUE(plan.finished());
}

TEST(TraversalPlan, MayBeTheTestAlone) {
  TraversalPlan plan({}, {shard("t")}, {});
  EXPECT_EQ(legs(plan), (Legs{"test: 0"}));
}

TEST(TraversalPlan, OfNothingIsFinished) {
  TraversalPlan plan({}, {}, {});
  EXPECT_TRUE(plan.finished());
  EXPECT_FALSE(plan.begin_pass());
}

TEST(TraversalPlan, GoesOnWithTheLegUnderWay) {
  TraversalPlan before({shard("a"), shard("b")}, {}, {.passes = 2});
  before.begin_pass();
  before.end_pass();
  before.begin_pass();
  before.set_examples_before(50);
  before.set_cursor(1, {.bytes = 40, .line = 4, .position = 4, .examples = 4});
  TraversalPlan plan(before.state(), {shard("a"), shard("b")}, {}, {.passes = 2});
  EXPECT_TRUE(plan.under_way());
  EXPECT_EQ(plan.shard_pass().pass, 2U);
  EXPECT_EQ(plan.shard_pass().examples_before, 50U);
  EXPECT_EQ(plan.cursor(0), Cursor());
  EXPECT_EQ(plan.cursor(1).bytes, 40U);
  EXPECT_EQ(plan.examples(), 4U);
  EXPECT_EQ(legs(plan), (Legs{"train 2: 0 1"}));
}

TEST(TraversalPlan, GivesEveryPassItsOwnCursors) {
  TraversalPlan plan({shard("a")}, {}, {.passes = 2});
  plan.begin_pass();
  plan.set_cursor(0, {.bytes = 100, .line = 9, .position = 9, .examples = 9});
  plan.end_pass();
  plan.begin_pass();
  EXPECT_EQ(plan.cursor(0), Cursor());
}

TEST(TraversalPlan, GivesNewShardsAllTheirPassesAndOldOnesNone) {
  TraversalPlan before({shard("a"), shard("b")}, {shard("t")}, {.passes = 2});
  legs(before);
  TraversalPlan plan(before.state(), {shard("a"), shard("aa"), shard("b")}, {shard("t")}, {.passes = 2});
  EXPECT_EQ(plan.shards(Phase::kTrain)[2].path, "aa");  // numbers stay
  EXPECT_EQ(legs(plan), (Legs{"train 1: 2", "train 2: 2"}));
}

TEST(TraversalPlan, KnowsWhichShardsAreNew) {
  const TraversalPlan before({shard("a")}, {}, {});
  EXPECT_THAT(before.new_shards(Phase::kTrain), IsEmpty());
  const TraversalPlan plan(before.state(), {shard("a"), shard("b")}, {shard("t")}, {});
  ASSERT_EQ(plan.new_shards(Phase::kTrain).size(), 1U);
  EXPECT_EQ(plan.new_shards(Phase::kTrain)[0].path, "b");
  ASSERT_EQ(plan.new_shards(Phase::kTest).size(), 1U);
  EXPECT_EQ(plan.new_shards(Phase::kTest)[0].path, "t");
}

TEST(TraversalPlan, GivesOldShardsThePassesThatAreNew) {
  TraversalPlan before({shard("a")}, {}, {});
  legs(before);
  TraversalPlan plan(before.state(), {shard("a"), shard("b")}, {}, {.passes = 2});
  EXPECT_EQ(legs(plan), (Legs{"train 1: 1", "train 2: 0 1"}));
}

TEST(TraversalPlan, TestsAgainWhenOnlyPredictingAndSomethingWasLearned) {
  TraversalPlan before({shard("a")}, {shard("t")}, {.test_frozen = true});
  EXPECT_EQ(legs(before), (Legs{"train 1: 0", "test: 0"}));
  TraversalPlan same(before.state(), {shard("a")}, {shard("t")}, {.test_frozen = true});
  EXPECT_TRUE(same.finished());
  TraversalPlan more(before.state(), {shard("a"), shard("b")}, {shard("t")}, {.test_frozen = true});
  EXPECT_EQ(legs(more), (Legs{"train 1: 1", "test: 0"}));
}

TEST(TraversalPlan, WarnsOfTestsThatAreNotRepeated) {
  const auto warnings_of = [](bool frozen, const std::vector<TrackedShard>& data,
                              const std::vector<TrackedShard>& test) {
    TraversalPlan before({shard("a")}, {shard("t")}, {.test_frozen = frozen});
    legs(before);
    return TraversalPlan(before.state(), data, test, {.test_frozen = frozen}).warnings();
  };
  EXPECT_THAT(warnings_of(false, {shard("a"), shard("b")}, {shard("t")}),
              ElementsAre(HasSubstr("1 shard was tested and learned earlier in the run")));
  EXPECT_THAT(warnings_of(true, {shard("a"), shard("b")}, {shard("t")}), IsEmpty());
  EXPECT_THAT(warnings_of(false, {shard("a")}, {shard("t")}), IsEmpty());
  EXPECT_THAT(warnings_of(false, {shard("a"), shard("b")}, {}), IsEmpty());
}

TEST(TraversalPlan, DoesWithoutShardsThatAreDone) {
  TraversalPlan before({shard("a")}, {shard("t")}, {});
  legs(before);
  TraversalPlan plan(before.state(), {shard("b")}, {}, {});
  EXPECT_EQ(legs(plan), (Legs{"train 1: 1"}));
}

TEST(TraversalPlan, KnowsShardsWhoseFoldersAreNamedOtherwise) {
  TraversalPlan before({shard("day/a", 100, 1), shard("day/b", 100, 2)}, {}, {});
  before.begin_pass();
  TraversalPlan under_way(before.state(), {shard("/logs/day/a", 100, 1), shard("/logs/day/b", 100, 2)}, {}, {});
  EXPECT_EQ(under_way.shards(Phase::kTrain)[1].path, "/logs/day/b");
  EXPECT_EQ(legs(under_way), (Legs{"train 1: 0 1"}));
  legs(before);
  TraversalPlan done(before.state(), {shard("./day/a", 100, 1), shard("./day/b", 100, 2)}, {}, {});
  EXPECT_TRUE(done.finished());
  // But not where the known ones are there too: then it is a copy.
  TraversalPlan copied(before.state(), {shard("day/a", 100, 1), shard("copy/a", 100, 1), shard("day/b", 100, 2)}, {},
                       {});
  EXPECT_EQ(legs(copied), (Legs{"train 1: 2"}));
}

TEST(TraversalPlan, KnowsPartsOfFiles) {
  const auto parts = [](const std::string& path, std::uint64_t bytes = 100) {
    std::vector<TrackedShard> shards{shard(path, bytes), shard(path, bytes)};
    for (std::uint32_t i = 0; i < 2; ++i) shards[i].shard.part = {i, 2};
    return shards;
  };
  TraversalPlan before(parts("day/a"), {}, {.passes = 2});
  before.begin_pass();
  before.set_cursor(1, {.bytes = 70, .line = 4, .position = 4, .examples = 4});
  for (const std::string path : {"day/a", "logs/day/a"}) {
    TraversalPlan plan(before.state(), parts(path), {}, {.passes = 2});
    EXPECT_EQ(plan.cursor(0), Cursor());
    EXPECT_EQ(plan.cursor(1).bytes, 70U);
    EXPECT_EQ(plan.shards(Phase::kTrain)[1].path, path);
    EXPECT_EQ(plan.shards(Phase::kTrain)[1].part, (FilePart{1, 2}));
    EXPECT_EQ(legs(plan), (Legs{"train 1: 0 1", "train 2: 0 1"}));
  }
  EXPECT_THAT(thrown_by([&] { TraversalPlan(before.state(), parts("day/a", 101), {}, {}); }).text,
              HasSubstr("day/a: has grown since the checkpoint"));
}

TEST(TraversalPlan, ForgetsPipesOnceAllIsDone) {
  TraversalPlan before({pipe("-")}, {}, {});
  before.begin_pass();
  EXPECT_FALSE(before.resumable());
  before.end_pass();
  EXPECT_TRUE(before.resumable());
  TraversalPlan plan(before.state(), {pipe("-")}, {}, {});
  EXPECT_EQ(legs(plan), (Legs{"train 1: 0"}));
}

TEST(TraversalPlan, DoesNotReadAPipeTwiceBeforeAllIsDone) {
  TraversalPlan before({pipe("-")}, {shard("t")}, {});
  before.begin_pass();
  before.end_pass();
  before.begin_pass();
  EXPECT_TRUE(before.resumable());
  TraversalPlan plan(before.state(), {pipe("-")}, {shard("t")}, {});
  EXPECT_EQ(legs(plan), (Legs{"test: 0"}));
}

TEST(TraversalPlan, RefusesShardsThatAreNotThose) {
  TraversalPlan before({shard("a"), shard("b")}, {shard("t")}, {});
  before.begin_pass();
  const auto refusal = [&](const TrackedShard& a, const TrackedShard& t) {
    return thrown_by([&] { TraversalPlan(before.state(), {a, shard("b")}, {t}, {}); });
  };
  EXPECT_THAT(refusal(shard("a", 101), shard("t")).text, HasSubstr("a: has grown since the checkpoint, it has 101"));
  EXPECT_THAT(refusal(shard("a", 99), shard("t")).text, HasSubstr("a: has changed since the checkpoint, it has 99"));
  EXPECT_THAT(refusal(shard("a"), shard("t", 100, 8)).text,
              HasSubstr("t: has changed since the checkpoint, it begins"));
  EXPECT_EQ(refusal(shard("a"), shard("t", 100, 8)).fault, Fault::kBadData);
  EXPECT_THAT(refusal(shard("c"), shard("t")).text, HasSubstr("a: has vanished since the checkpoint"));
  EXPECT_THAT(refusal(shard("a"), shard("u")).text, HasSubstr("t: has vanished since the checkpoint"));
  EXPECT_EQ(refusal(shard("a"), shard("u")).fault, Fault::kNoInput);
}

TEST(TraversalPlan, WarnsOfNewShardsThatMayBeOldOnes) {
  TraversalPlan before({shard("d/a", 100, 7), shard("d/b", 200, 8)}, {}, {});
  legs(before);
  const auto warnings = [&](const std::vector<TrackedShard>& found) {
    return TraversalPlan(before.state(), found, {}, {}).warnings();
  };
  const auto tells_of = [](const std::string& found, const std::string& known) {
    return ElementsAre(StartsWith(found + " may be " + known + ", which is done and has vanished"));
  };
  EXPECT_THAT(warnings({shard("d/b", 200, 8), shard("d/c", 100, 7)}), tells_of("d/c", "d/a"));
  EXPECT_THAT(warnings({shard("d/a", 100, 7), shard("d/b.gz", 50, 9)}), tells_of("d/b.gz", "d/b"));
  // Nothing has vanished, or what is new is something else.
  EXPECT_THAT(warnings({shard("d/a", 100, 7), shard("d/b", 200, 8), shard("d/c", 100, 7)}), IsEmpty());
  EXPECT_THAT(warnings({shard("e/a", 100, 7), shard("e/b", 200, 8)}), IsEmpty());
  EXPECT_THAT(warnings({shard("d/c", 100, 9), shard("d/e", 101, 7), shard("d/bb", 50, 9)}), IsEmpty());
}

TEST(TraversalPlan, RefusesChangedShardsEvenWhereTheyAreDone) {
  TraversalPlan before({shard("a")}, {}, {});
  legs(before);
  EXPECT_EQ(thrown_by([&] { TraversalPlan(before.state(), {shard("a", 200)}, {}, {}); }).fault, Fault::kBadData);
}

}  // namespace
}  // namespace cpt
