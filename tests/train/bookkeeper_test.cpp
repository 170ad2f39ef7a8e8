// The books of rank 0: labels get their numbers in the order of examples, and what examples came to is counted once.
#include "train/bookkeeper.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "comm/alone.h"
#include "cpt/error.h"
#include "model/losses.h"
#include "train/job.h"

namespace cpt {
namespace {

Finding finding(Finding::Kind kind, LabelId label, double value) { return {0, kind, label, value}; }

TEST(Book, KeepsThePartsOfAnExample) {
  Book book;
  book.entries.resize(1);
  book.enter(finding(Finding::Kind::kLevel1, 0, 0.5));
  book.enter(finding(Finding::Kind::kDeep, 0, 0.25));
  book.enter(finding(Finding::Kind::kDrawn, 0, 0.125));
  EXPECT_EQ(book.entries[0].root, 1);
  EXPECT_EQ(book.entries[0].level1, 0.5);
  EXPECT_EQ(book.entries[0].deep, 0.25);
  EXPECT_EQ(book.entries[0].drawn, 0.125);
}

TEST(Book, KeepsTheBestLabelAndOfEqualOnesTheLowest) {
  Book book;
  book.entries.resize(1);
  const auto best_after = [&](LabelId label, double value) {
    book.enter(finding(Finding::Kind::kFound, label, value));
    return book.entries[0].best;
  };
  EXPECT_EQ(best_after(8, 0), 8U);
  EXPECT_EQ(best_after(7, 0.25), 7U);
  EXPECT_EQ(best_after(3, 0.125), 7U);
  EXPECT_EQ(best_after(9, 0.25), 7U);
  EXPECT_EQ(best_after(5, 0.25), 5U);
  EXPECT_EQ(best_after(6, 0.5), 6U);
}

class Books : public ::testing::Test {
 protected:
  Books() { progress_.begin(Phase::kTrain); }

  // A label that is in the tree, below that of label 0.
  void know(const std::string& name) { learner_.apply({name, learner_.tree().empty() ? kNoLabel : LabelId{0}, 0}); }

  // A round of examples without features that have these labels; their slots run backwards. The memory of a round stays
  // until the next.
  std::vector<Visit> open(const std::vector<std::string>& labels, bool learning = true) {
    Buffer message;
    ArrivalWriter writer;
    writer.begin(message);
    for (std::size_t i = 0; i < labels.size(); ++i) {
      Batch batch;
      batch.finish_example(labels[i], 2, {});
      const LabelId known = learner_.find(batch[0]);
      Arrival head;
      head.order = i;
      head.slot = static_cast<std::uint32_t>(labels.size() - 1 - i);
      head.label = known;
      writer.append(head, batch[0], {}, known == kNoLabel ? std::string_view(labels[i]) : std::string_view{});
    }
    writer.end();
    std::vector<Arrival> arrivals;
    std::vector<std::size_t> ends;
    reader_.clear();
    reader_.read_arrivals({{.bytes = message.bytes()}}, arrivals, ends);
    book_ = {};
    return books_.open(arrivals, learning, book_);
  }

  Alone alone_;
  Learner learner_{{.bits = kLeastBits}};
  Recorder observer_;
  Progress progress_{alone_, learner_, observer_, Counting::kOnRank0};
  Bookkeeper books_{learner_, progress_};
  MessageReader reader_;
  Book book_;
};

TEST_F(Books, NumberNewLabelsInTheOrderOfExamples) {
  know("old");
  const std::vector<Visit> visits = open({"b", "old", "a", "b", "a"});
  ASSERT_EQ(visits.size(), 5U);
  const std::vector<LabelId> labels = {1, 0, 2, 1, 2};
  for (std::size_t i = 0; i < visits.size(); ++i) {
    EXPECT_EQ(visits[i].order, i);
    EXPECT_EQ(visits[i].slot, 4 - i);
    EXPECT_EQ(visits[i].label, labels[i]);
    EXPECT_EQ(visits[i].kind, i == 0 || i == 2 ? VisitKind::kSettle : VisitKind::kKnown);
    EXPECT_EQ(book_.entries[4 - i].is_new, visits[i].kind == VisitKind::kSettle);
  }
}

TEST_F(Books, RememberNumbersUntilTheLabelsHaveJoined) {
  open({"a", "b"});
  const std::vector<Visit> next = open({"b", "c", "a"});  // the round before is not closed
  EXPECT_EQ(next[0].label, 1U);
  EXPECT_EQ(next[0].kind, VisitKind::kKnown);
  EXPECT_EQ(next[1].label, 2U);
  EXPECT_EQ(next[2].label, 0U);
}

TEST_F(Books, PassOverNewLabelsWhereNothingIsLearned) {
  know("old");
  const std::vector<Visit> visits = open({"new", "old", "new"}, false);
  ASSERT_EQ(visits.size(), 1U);
  EXPECT_EQ(visits[0].label, 0U);
  books_.close(book_);
  EXPECT_EQ(progress_.losses().examples, 3U);
  EXPECT_EQ(progress_.losses().new_labels, 2U);
  EXPECT_EQ(learner_.tree().labels(), 1U);
}

// Numbers go on over rounds; a search comes after the draw and before what is learned.
TEST_F(Books, AskForDrawsAndSearchesWhenTheyAreDue) {
  know("old");
  std::uint64_t number = 0;
  for (int round = 0; round < 30; ++round) {
    const std::vector<Visit> visits = open(std::vector<std::string>(21, "old"));
    auto visit = visits.begin();
    for (std::size_t i = 0; i < 21; ++i) {
      ++number;
      if (brier_due(number)) {
        EXPECT_EQ((visit++)->kind, VisitKind::kDraw) << number;
      }
      if (top1_due(number)) {
        EXPECT_EQ((visit++)->kind, VisitKind::kSearch) << number;
      }
      EXPECT_EQ(visit->order, i);
      EXPECT_EQ((visit++)->kind, VisitKind::kKnown) << number;
    }
    EXPECT_EQ(visit, visits.end());
  }
}

TEST_F(Books, CountAndApplyWhatARoundCameTo) {
  know("old");
  open({"x", "old", "y"});
  book_.entries[1].root = 0.5;
  book_.entries[1].level1 = 0.5;
  book_.entries[1].deep = 0.25;
  book_.changes = {{2, 1, 7}, {1, 0, 3}};  // as they come from several owners
  books_.close(book_);

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

  const std::vector<TreeChange> changes = books_.take_changes();
  ASSERT_EQ(changes.size(), 2U);
  EXPECT_EQ(changes[0].label, "x");
  EXPECT_EQ(changes[1].label, "y");
  EXPECT_TRUE(books_.take_changes().empty());
}

TEST_F(Books, DoNotCloseWithLabelsThatHaveJoinedNoTree) {
  open({"a", "b"});
  book_.changes = {{0, kNoLabel, 0}};
  EXPECT_THROW(books_.close(book_), Error);
}

TEST_F(Books, DoNotCloseWithChangesOfOtherLabels) {
  open({"a", "b"});
  book_.changes = {{0, kNoLabel, 0}, {2, 0, 0}};
  EXPECT_THROW(books_.close(book_), Error);
}

TEST_F(Books, TellThatTheWeightsHaveDiverged) {
  know("old");
  open({"old"});
  book_.entries[0].deep = std::numeric_limits<double>::quiet_NaN();
  EXPECT_THROW(books_.close(book_), Error);
}

}  // namespace
}  // namespace cpt
