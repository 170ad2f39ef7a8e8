// The coordinator on owners of roots: examples and new labels are numbered in the order of examples, and new labels
// join the trees in the order of their numbers.
#include "train/partitioned/coordinator.h"

#include <gtest/gtest.h>

#include <array>
#include <span>

#include "cpt/error.h"
#include "model/learning/losses.h"
#include "train/job.h"

namespace cpt {
namespace {

class Coordinators : public ::testing::Test {
 protected:
  // A label that is in the tree, below that of label 0.
  void know(const std::string& name) { learner_.apply({name, {learner_.tree().empty() ? kNoLabel : LabelId{0}}, 0}); }

  // A round of examples without features that have these labels; their slots run backwards, and rank 1 has read them.
  // The memory of a round stays until the next.
  std::vector<PartitionTask> open(const std::vector<std::string>& labels, bool learning = true) {
    return open(labels, learning, coordinator_);
  }
  std::vector<PartitionTask> open(const std::vector<std::string>& labels, bool learning, Coordinator& coordinator) {
    const std::vector<RoutedExample> examples = routed(labels);
    return open(examples, labels.size(), learning, coordinator);
  }
  std::vector<PartitionTask> open(const std::vector<RoutedExample>& examples, std::uint64_t count, bool learning,
                                  Coordinator& coordinator) {
    numbered_ = {{}, {}};
    opened_ = coordinator.open(examples, std::array<std::uint64_t, 2>{0, count}, learning, numbered_);
    EXPECT_TRUE(numbered_[0].empty());
    return opened_.tasks;
  }
  std::vector<RoutedExample> routed(const std::vector<std::string>& labels) {
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
    std::vector<RoutedExample> examples;
    std::vector<std::size_t> ends;
    read_examples({{.bytes = message_.bytes(), .examples = labels.size(), .reader = 1}}, examples, ends);
    return examples;
  }

  // Inserts the labels of the round by these splits.
  void insert(Coordinator& coordinator, std::vector<Split> splits) {
    sort_splits(splits);
    left_ = splits;
    coordinator.insert(left_, opened_.labels);
  }

  Learner learner_{{.bits = kLeastBits}};
  Coordinator coordinator_{learner_, {true}};
  Buffer message_;
  Coordinator::Opened opened_;
  std::vector<std::vector<Numbered>> numbered_;
  std::span<const Split> left_;
};

TEST_F(Coordinators, NumberNewLabelsInTheOrderOfExamples) {
  know("old");
  const std::vector<PartitionTask> tasks = open({"b", "old", "a", "b", "a"});
  ASSERT_EQ(tasks.size(), 5U);
  const std::vector<LabelId> labels = {1, 0, 2, 1, 2};
  for (std::size_t i = 0; i < tasks.size(); ++i) {
    EXPECT_EQ(tasks[i].order, i);
    EXPECT_EQ(tasks[i].slot, 4 - i);
    EXPECT_EQ(tasks[i].label, labels[i]);
    EXPECT_EQ(tasks[i].kind, i == 0 || i == 2 ? TaskKind::kInsert : TaskKind::kKnown);
    EXPECT_EQ(tasks[i].reader, 1U);
  }
  // The rank that has read them knows only "old".
  const std::vector<Numbered>& told = numbered_[1];
  ASSERT_EQ(told.size(), 4U);
  EXPECT_EQ(told[0].slot, 4U);
  EXPECT_EQ(told[0].label, 1U);
  EXPECT_EQ(told[0].is_new, 1U);
  EXPECT_EQ(told[1].slot, 2U);
  EXPECT_EQ(told[1].label, 2U);
  EXPECT_EQ(told[2].slot, 1U);
  EXPECT_EQ(told[2].is_new, 0U);
  EXPECT_EQ(opened_.labels, 3U);
}

TEST_F(Coordinators, TellWhenReportsAreDue) {
  know("old");
  open({"a", "old", "b"});
  ASSERT_EQ(opened_.reports.size(), 2U);
  EXPECT_EQ(opened_.reports[0].number, 1U);
  EXPECT_EQ(opened_.reports[0].order, 0U);
  EXPECT_EQ(opened_.reports[0].labels, 2U);
  EXPECT_EQ(opened_.reports[1].number, 2U);
  EXPECT_EQ(opened_.reports[1].order, 1U);
  EXPECT_EQ(opened_.reports[1].labels, 2U);
  open({"old", "c"});
  ASSERT_EQ(opened_.reports.size(), 1U);
  EXPECT_EQ(opened_.reports[0].number, 4U);
  EXPECT_EQ(opened_.reports[0].order, 0U);
  EXPECT_EQ(opened_.reports[0].labels, 3U);
  coordinator_.begin_pass(1'000);
  open(std::vector<std::string>(25, "old"));
  ASSERT_EQ(opened_.reports.size(), 1U);
  EXPECT_EQ(opened_.reports[0].order, 23U);
}

TEST_F(Coordinators, RememberNumbersUntilTheLabelsHaveJoined) {
  open({"a", "b"});
  const std::vector<PartitionTask> next = open({"b", "c", "a"});  // the round before is not closed
  EXPECT_EQ(next[0].label, 1U);
  EXPECT_EQ(next[0].kind, TaskKind::kKnown);
  EXPECT_EQ(next[1].label, 2U);
  EXPECT_EQ(next[2].label, 0U);
}

TEST_F(Coordinators, PassOverNewLabelsWhereNothingIsLearned) {
  know("old");
  const std::vector<PartitionTask> tasks = open({"new", "old", "new"}, false);
  ASSERT_EQ(tasks.size(), 1U);
  EXPECT_EQ(tasks[0].label, 0U);
  ASSERT_EQ(numbered_[1].size(), 2U);
  for (const Numbered& told : numbered_[1]) {
    EXPECT_EQ(told.label, kNoLabel);
    EXPECT_EQ(told.is_new, 1U);
  }
  insert(coordinator_, {});
  EXPECT_EQ(learner_.tree().labels(), 1U);
}

// Numbers go on over rounds; a search comes after the draw and before what is learned.
TEST_F(Coordinators, AskForDrawsAndSearchesWhenTheyAreDue) {
  know("old");
  std::uint64_t number = 0;
  for (int round = 0; round < 30; ++round) {
    const std::vector<PartitionTask> tasks = open(std::vector<std::string>(21, "old"));
    auto task = tasks.begin();
    auto told = numbered_[1].begin();
    for (std::size_t i = 0; i < 21; ++i) {
      ++number;
      if (is_sampled(number)) {
        EXPECT_EQ(told->number, number);
        EXPECT_EQ((told++)->slot, 20 - i);
        EXPECT_EQ((task++)->kind, TaskKind::kDraw) << number;
        EXPECT_EQ(task->least, kLeastTop1);
        EXPECT_EQ((task++)->kind, TaskKind::kSearch) << number;
      }
      EXPECT_EQ(task->order, i);
      EXPECT_EQ((task++)->kind, TaskKind::kKnown) << number;
    }
    EXPECT_EQ(task, tasks.end());
    EXPECT_EQ(told, numbered_[1].end());
  }
}

TEST_F(Coordinators, InsertNewLabelsInTheOrderOfTheirNumbers) {
  know("old");
  open({"x", "old", "y"});
  std::vector<Split> splits = {{2, 1, 7, 0}, {1, 0, 3, 0}};  // as they come from several owners
  sort_splits(splits);
  std::span<const Split> left = splits;
  coordinator_.insert(left, 2);
  EXPECT_EQ(learner_.tree().labels(), 2U);
  EXPECT_EQ(left.size(), 1U);
  coordinator_.insert(left, opened_.labels);
  EXPECT_TRUE(left.empty());
  EXPECT_EQ(learner_.tree().labels(), 3U);
  EXPECT_EQ(learner_.tree().split_for(2), 1U);
  EXPECT_EQ(learner_.disagreements(), 10U);

  const std::vector<TreeChange> changes = coordinator_.take_changes();
  ASSERT_EQ(changes.size(), 2U);
  EXPECT_EQ(changes[0].label, "x");
  EXPECT_EQ(changes[1].label, "y");
  EXPECT_TRUE(coordinator_.take_changes().empty());
}

// Labels 0 and 1 are new.
TEST_F(Coordinators, DoNotInsertByOtherSplits) {
  const Split first{0, kNoLabel, 0, 0};
  const std::vector<std::pair<const char*, std::vector<Split>>> cases = {{"a label is missing", {first}},
                                                                         {"another label", {first, {2, 0, 0, 0}}},
                                                                         {"an unknown leaf", {first, {1, 17, 0, 0}}},
                                                                         {"another tree", {first, {1, 0, 0, 1}}}};
  for (const auto& [name, splits] : cases) {
    SCOPED_TRACE(name);
    Learner learner{{.bits = kLeastBits}};
    Coordinator coordinator{learner, {true}};
    open({"a", "b"}, true, coordinator);
    expect_protocol_error(thrown_by([&] { insert(coordinator, splits); }));
  }
}

TEST_F(Coordinators, DoNotOpenForUnknownRanksSlotsAndLabels) {
  const std::vector<RoutedExample> examples = routed({"old"});
  const auto expect_refused = [&](const auto& change) {
    std::vector<RoutedExample> changed = examples;
    change(changed[0]);
    expect_protocol_error(thrown_by([&] { open(changed, 1, true, coordinator_); }));
  };
  expect_refused([](RoutedExample& example) { example.slot = 1; });
  expect_refused([](RoutedExample& example) { example.reader = 0; });
  expect_refused([](RoutedExample& example) { example.reader = 2; });
  expect_refused([](RoutedExample& example) { example.label = 5; });
}

TEST_F(Coordinators, DoNotOpenForUnknownTreesAndMissingExamples) {
  std::vector<RoutedExample> examples = routed({"old"});
  expect_protocol_error(thrown_by([&] { open(examples, 2, true, coordinator_); }));
  examples[0].tree = 1;
  expect_protocol_error(thrown_by([&] { open(examples, 1, true, coordinator_); }));
}

// Two trees, of which another rank has the root of the first.
TEST_F(Coordinators, OfTheSecondTreeNumberTheSame) {
  Learner learner{{.trees = 2, .bits = kLeastBits}};
  Coordinator coordinator{learner, {false, true}};
  std::vector<RoutedExample> examples = routed({"b"});
  EXPECT_TRUE(thrown_by([&] { open(examples, 1, true, coordinator); }).text.find("0 of 1") != std::string::npos);
  examples[0].tree = 1;
  const std::vector<PartitionTask> tasks = open(examples, 1, true, coordinator);
  ASSERT_EQ(tasks.size(), 1U);
  EXPECT_EQ(tasks[0].label, 0U);
  EXPECT_EQ(tasks[0].partition, root_partition(1));
  EXPECT_EQ(tasks[0].kind, TaskKind::kInsert);
  EXPECT_TRUE(numbered_[1].empty());  // the owner of the first root tells
  EXPECT_TRUE(opened_.reports.empty());
  learner.apply({"b", {kNoLabel, kNoLabel}, 0});  // as rank 0 says later
  EXPECT_EQ(open(examples, 1, true, coordinator).at(0).kind, TaskKind::kKnown);
  std::uint64_t number = 3;
  for (; !is_sampled(number); ++number) open(examples, 1, true, coordinator);
  const std::vector<PartitionTask> of_sample = open(examples, 1, true, coordinator);
  ASSERT_EQ(of_sample.size(), 2U) << "several trees are not searched";
  EXPECT_EQ(of_sample[0].kind, TaskKind::kDraw);
  EXPECT_EQ(of_sample[1].kind, TaskKind::kKnown);
}

}  // namespace
}  // namespace cpt
