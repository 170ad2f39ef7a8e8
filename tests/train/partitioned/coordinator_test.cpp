// The ledgers of rank 0: labels are numbered in the order of examples, and the result of each example is counted once.
#include "train/partitioned/coordinator.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "comm/alone.h"
#include "cpt/error.h"
#include "model/learning/losses.h"
#include "train/job.h"

namespace cpt {
namespace {

PartialResult partial(PartialResult::Kind kind, LabelId label, double value) { return {0, kind, label, value}; }

TEST(RoundLedger, KeepsThePartsOfAnExample) {
  RoundLedger ledger;
  ledger.clear(1, 1);
  ledger.enter(partial(PartialResult::Kind::kUpper, 0, 0.5));
  ledger.enter(partial(PartialResult::Kind::kUpper, 0, 0.75));
  ledger.enter(partial(PartialResult::Kind::kDeep, 0, 0.25));
  ledger.enter(partial(PartialResult::Kind::kDrawn, 7, 0.125));
  EXPECT_EQ(ledger.parts[0].upper, 0.375);
  EXPECT_EQ(ledger.parts[0].deep, 0.25);
  EXPECT_EQ(ledger.parts[0].drawn.label, 7U);
  EXPECT_EQ(ledger.parts[0].drawn.probability, 0.125);
}

TEST(RoundLedger, KeepsTheBestLabelAndOfEqualOnesTheLowest) {
  RoundLedger ledger;
  ledger.clear(1, 1);
  const auto best_after = [&](LabelId label, double value) {
    ledger.enter(partial(PartialResult::Kind::kFound, label, value));
    return ledger.entries[0].best.label;
  };
  EXPECT_EQ(best_after(8, 0), 8U);
  EXPECT_EQ(best_after(7, 0.25), 7U);
  EXPECT_EQ(best_after(3, 0.125), 7U);
  EXPECT_EQ(best_after(9, 0.25), 7U);
  EXPECT_EQ(best_after(5, 0.25), 5U);
  EXPECT_EQ(best_after(6, 0.5), 6U);
}

void expect_protocol_error(const Thrown& thrown) {
  EXPECT_EQ(thrown.fault, Fault::kFailed);
  EXPECT_EQ(thrown.text.rfind("protocol error: ", 0), 0U) << thrown.text;
}

TEST(RoundLedger, RefusesResultsOfUnknownSlots) {
  RoundLedger ledger;
  ledger.clear(1, 1);
  expect_protocol_error(thrown_by([&] { ledger.enter({1, PartialResult::Kind::kDeep, 0, 0.5}); }));
}

// The message of a rank with one result and one split, whose header says otherwise.
Buffer results_message(std::uint64_t partials, std::uint64_t splits) {
  Buffer message;
  const ResultHeader header{0, partials, splits};
  const PartialResult result(0, PartialResult::Kind::kDeep, 0, 0.5);
  const Split split{7, 3, 2, 0};
  message.append(&header, sizeof header);
  message.append(&result, sizeof result);
  message.append(&split, sizeof split);
  return message;
}

TEST(RoundLedger, EntersTheResultsAndSplitsOfARank) {
  RoundLedger ledger;
  ledger.clear(1, 1);
  ledger.enter_all(results_message(1, 1).bytes());
  EXPECT_EQ(ledger.parts[0].deep, 0.5);
  ASSERT_EQ(ledger.splits.size(), 1U);
  EXPECT_EQ(ledger.splits[0].label, 7U);
}

TEST(RoundLedger, RefusesCountsThatDoNotFitTheMessage) {
  const std::uint64_t huge = std::uint64_t{1} << 60;  // times 16 overflows
  const std::vector<std::pair<std::uint64_t, std::uint64_t>> counts = {
      {0, 1}, {2, 1}, {3, 0}, {1, 0}, {1, 2}, {huge, 1}, {huge + 1, 1}, {1, huge}, {1, (std::uint64_t{1} << 62) + 1}};
  for (const auto& [partials, splits] : counts) {
    RoundLedger ledger;
    ledger.clear(8, 1);
    expect_protocol_error(thrown_by([&] { ledger.enter_all(results_message(partials, splits).bytes()); }));
  }
}

class Ledgers : public ::testing::Test {
 protected:
  Ledgers() { progress_.begin(Phase::kTrain); }

  // A label that is in the tree, below that of label 0.
  void know(const std::string& name) { learner_.apply({name, {learner_.tree().empty() ? kNoLabel : LabelId{0}}, 0}); }

  // A round of examples without features that have these labels; their slots run backwards. The memory of a round stays
  // until the next.
  std::vector<PartitionTask> open(const std::vector<std::string>& labels, bool learning = true) {
    return open(labels, learning, ledgers_);
  }
  std::vector<PartitionTask> open(const std::vector<std::string>& labels, bool learning, Coordinator& coordinator) {
    message_.clear();
    ExampleWriter writer;
    writer.begin(message_);
    for (std::size_t i = 0; i < labels.size(); ++i) {
      Batch batch;
      batch.finish_example(labels[i], 2, {});
      const LabelId known = learner_.find(batch[0]);
      RoutedExample head;
      head.order = i;
      head.slot = static_cast<std::uint32_t>(labels.size() - 1 - i);
      head.label = known;
      writer.append(head, {batch[0], {}, known == kNoLabel ? std::string_view(labels[i]) : std::string_view{}});
    }
    writer.end();
    std::vector<RoutedExample> routed_examples;
    std::vector<std::size_t> ends;
    read_examples({{.bytes = message_.bytes(), .examples = labels.size()}}, routed_examples, ends);
    ledger_ = {};
    return coordinator.open(routed_examples, labels.size(), learning, ledger_);
  }

  Alone alone_;
  Learner learner_{{.bits = kLeastBits}};
  Recorder observer_;
  Progress progress_{alone_, learner_, observer_, Counting::kOnRank0};
  Coordinator ledgers_{learner_, progress_, {true}};
  Buffer message_;
  RoundLedger ledger_;
};

TEST_F(Ledgers, NumberNewLabelsInTheOrderOfExamples) {
  know("old");
  const std::vector<PartitionTask> tasks = open({"b", "old", "a", "b", "a"});
  ASSERT_EQ(tasks.size(), 5U);
  const std::vector<LabelId> labels = {1, 0, 2, 1, 2};
  for (std::size_t i = 0; i < tasks.size(); ++i) {
    EXPECT_EQ(tasks[i].order, i);
    EXPECT_EQ(tasks[i].slot, 4 - i);
    EXPECT_EQ(tasks[i].label, labels[i]);
    EXPECT_EQ(tasks[i].kind, i == 0 || i == 2 ? TaskKind::kSettle : TaskKind::kKnown);
    EXPECT_EQ(ledger_.entries[4 - i].is_new, tasks[i].kind == TaskKind::kSettle);
  }
}

TEST_F(Ledgers, RememberNumbersUntilTheLabelsHaveJoined) {
  open({"a", "b"});
  const std::vector<PartitionTask> next = open({"b", "c", "a"});  // the round before is not closed
  EXPECT_EQ(next[0].label, 1U);
  EXPECT_EQ(next[0].kind, TaskKind::kKnown);
  EXPECT_EQ(next[1].label, 2U);
  EXPECT_EQ(next[2].label, 0U);
}

TEST_F(Ledgers, PassOverNewLabelsWhereNothingIsLearned) {
  know("old");
  const std::vector<PartitionTask> tasks = open({"new", "old", "new"}, false);
  ASSERT_EQ(tasks.size(), 1U);
  EXPECT_EQ(tasks[0].label, 0U);
  ledgers_.close(ledger_);
  EXPECT_EQ(progress_.losses().examples, 3U);
  EXPECT_EQ(progress_.losses().new_labels, 2U);
  EXPECT_EQ(learner_.tree().labels(), 1U);
}

// Numbers go on over rounds; a search comes after the draw and before what is learned.
TEST_F(Ledgers, AskForDrawsAndSearchesWhenTheyAreDue) {
  know("old");
  std::uint64_t number = 0;
  for (int round = 0; round < 30; ++round) {
    const std::vector<PartitionTask> tasks = open(std::vector<std::string>(21, "old"));
    auto task = tasks.begin();
    for (std::size_t i = 0; i < 21; ++i) {
      ++number;
      if (brier_due(number)) {
        EXPECT_EQ((task++)->kind, TaskKind::kDraw) << number;
      }
      if (top1_due(learner_.options(), number)) {
        EXPECT_EQ((task++)->kind, TaskKind::kSearch) << number;
      }
      EXPECT_EQ(task->order, i);
      EXPECT_EQ((task++)->kind, TaskKind::kKnown) << number;
    }
    EXPECT_EQ(task, tasks.end());
  }
}

TEST_F(Ledgers, CountAndApplyTheResultsOfARound) {
  know("old");
  open({"x", "old", "y"});
  ledger_.parts[1] = {.upper = 0.25, .deep = 0.25, .drawn = {}};
  ledger_.splits = {{2, 1, 7, 0}, {1, 0, 3, 0}};  // as they come from several owners
  ledgers_.close(ledger_);

  const Losses& losses = progress_.losses();
  EXPECT_EQ(losses.examples, 3U);
  EXPECT_EQ(losses.new_labels, 2U);
  EXPECT_EQ(losses.weight, 6);
  EXPECT_EQ(losses.seen_weight, 2);
  EXPECT_EQ(losses.squared_seen, 2 * 0.9375 * 0.9375);
  EXPECT_DOUBLE_EQ(losses.log_seen, 2 * std::log(16));
  EXPECT_EQ(learner_.tree().labels(), 3U);
  EXPECT_EQ(learner_.tree().split_for(2), 1U);
  EXPECT_EQ(learner_.disagreements(), 10U);
  ASSERT_EQ(observer_.reports.size(), 2U);  // after 1 and 2 examples
  EXPECT_EQ(observer_.reports[0].labels, 2U);

  const std::vector<TreeChange> changes = ledgers_.take_changes();
  ASSERT_EQ(changes.size(), 2U);
  EXPECT_EQ(changes[0].label, "x");
  EXPECT_EQ(changes[1].label, "y");
  EXPECT_TRUE(ledgers_.take_changes().empty());
}

// Labels 0 and 1 are new.
TEST_F(Ledgers, DoNotCloseWithOtherSplits) {
  const Split first{0, kNoLabel, 0, 0};
  const std::vector<std::pair<const char*, std::vector<Split>>> cases = {
      {"a label is missing", {first}},
      {"another label", {first, {2, 0, 0, 0}}},
      {"surplus", {first, {1, 0, 0, 0}, {2, 0, 0, 0}}},
      {"an unknown leaf", {first, {1, 17, 0, 0}}},
      {"another tree", {first, {1, 0, 0, 1}}}};
  for (const auto& [name, splits] : cases) {
    SCOPED_TRACE(name);
    Learner learner{{.bits = kLeastBits}};
    Progress progress{alone_, learner, observer_, Counting::kOnRank0};
    Coordinator coordinator{learner, progress, {true}};
    open({"a", "b"}, true, coordinator);
    ledger_.splits = splits;
    expect_protocol_error(thrown_by([&] { coordinator.close(ledger_); }));
  }
}

TEST_F(Ledgers, DoNotOpenForUnknownSlotsAndLabels) {
  std::vector<RoutedExample> examples(1);
  examples[0].slot = 1;
  expect_protocol_error(thrown_by([&] { ledgers_.open(examples, 1, true, ledger_); }));

  open({"old"});  // so that there is an example
  std::vector<std::size_t> ends;
  examples.clear();
  read_examples({{.bytes = message_.bytes(), .examples = 1}}, examples, ends);
  examples[0].label = 5;
  expect_protocol_error(thrown_by([&] { ledgers_.open(examples, 1, true, ledger_); }));
}

TEST_F(Ledgers, DoNotOpenForUnknownTreesAndMissingExamples) {
  open({"old"});
  std::vector<RoutedExample> examples;
  std::vector<std::size_t> ends;
  read_examples({{.bytes = message_.bytes(), .examples = 1}}, examples, ends);
  expect_protocol_error(thrown_by([&] { ledgers_.open(examples, 2, true, ledger_); }));
  examples[0].tree = 1;
  expect_protocol_error(thrown_by([&] { ledgers_.open(examples, 1, true, ledger_); }));
}

// Two trees, of which another rank has the root of the first.
TEST_F(Ledgers, OfARankThatLeadsTheSecondTreeNumberTheSame) {
  Learner learner{{.trees = 2, .bits = kLeastBits}};
  Progress progress{alone_, learner, observer_, Counting::kOnRank0};
  Coordinator coordinator{learner, progress, {false, true}};
  open({"b"});
  std::vector<RoutedExample> examples;
  std::vector<std::size_t> ends;
  read_examples({{.bytes = message_.bytes(), .examples = 1}}, examples, ends);
  EXPECT_TRUE(thrown_by([&] { coordinator.open(examples, 1, true, ledger_); }).text.find("0 of 1") !=
              std::string::npos);
  examples[0].tree = 1;
  const std::vector<PartitionTask> tasks = coordinator.open(examples, 1, true, ledger_);
  ASSERT_EQ(tasks.size(), 1U);
  EXPECT_EQ(tasks[0].label, 0U);
  EXPECT_EQ(tasks[0].partition, root_partition(1));
  EXPECT_EQ(tasks[0].kind, TaskKind::kSettle);
  learner.apply({"b", {kNoLabel, kNoLabel}, 0});  // as rank 0 says later
  EXPECT_EQ(coordinator.open(examples, 1, true, ledger_).at(0).kind, TaskKind::kKnown);
}

TEST_F(Ledgers, CountTheMeanOfTheTrees) {
  Learner learner{{.trees = 2, .bits = kLeastBits}};
  Progress progress{alone_, learner, observer_, Counting::kOnRank0};
  progress.begin(Phase::kTrain);
  learner.apply({"old", {kNoLabel, kNoLabel}, 0});
  Coordinator coordinator{learner, progress, {true, false}};
  know("old");
  open({"old"});
  std::vector<RoutedExample> examples;
  std::vector<std::size_t> ends;
  read_examples({{.bytes = message_.bytes(), .examples = 1}}, examples, ends);
  coordinator.open(examples, 1, true, ledger_);
  ledger_.enter({0, PartialResult::Kind::kUpper, 0, 0.5});
  ledger_.enter({1, PartialResult::Kind::kUpper, 0, 0.25});
  ledger_.enter({1, PartialResult::Kind::kDeep, 0, 0.5});
  coordinator.close(ledger_);
  const double p = (0.5 + 0.125) / 2;
  EXPECT_EQ(progress.losses().squared_seen, 2 * (1 - p) * (1 - p));
}

TEST_F(Ledgers, TellThatTheWeightsHaveDiverged) {
  know("old");
  open({"old"});
  ledger_.parts[0].deep = std::numeric_limits<double>::quiet_NaN();
  EXPECT_THROW(ledgers_.close(ledger_), Error);
}

}  // namespace
}  // namespace cpt
