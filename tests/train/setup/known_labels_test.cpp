// PECOC must know its labels before it learns.
#include "train/setup/known_labels.h"

#include <gmock/gmock.h>

#include "data/packed.h"
#include "train/job.h"

namespace cpt {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

std::vector<std::string> labels_by_number(const ModelShare& model) {
  std::vector<std::string> labels;
  for (LabelId i = 0; i < model.learner().tree().labels(); ++i) labels.emplace_back(model.learner().labels().name(i));
  return labels;
}

class KnownLabels : public ::testing::Test {
 protected:
  KnownLabels() {
    options_ = small_job();
    options_.model.method = Method::kPecoc;
  }

  Folder folder_;
  TrainingOptions options_;
};

TEST_F(KnownLabels, AreTheSortedOnesOfAllShardsOnAnyNumberOfRanks) {
  options_.data = {folder_.write("1", "d |a x\nb |a y\n"), folder_.write("2", "a |a x\nd |a z\n")};
  options_.test = {folder_.write("3", "c |a x\n")};
  for (const int ranks : {1, 2, 3, 5}) {
    for (const TrainingResult& result : results_on(ranks, options_)) {
      EXPECT_THAT(labels_by_number(result.model), ElementsAre("a", "b", "c", "d"));
      EXPECT_EQ(result.summary.train.new_labels, 0U);
      EXPECT_EQ(result.summary.test.new_labels, 0U);
    }
  }
}

TEST_F(KnownLabels, AreThoseOfAListInItsOrder) {
  options_.data = {folder_.write("1", "d |a x\nb |a y\n")};
  options_.labels = folder_.write("list", "d\r\n\nb\nnever-seen\n");
  for (const int ranks : {1, 3}) {
    EXPECT_THAT(labels_by_number(results_on(ranks, options_)[0].model), ElementsAre("d", "b", "never-seen"));
  }
}

TEST_F(KnownLabels, ALineWithAnotherOneIsABadLine) {
  options_.data = {folder_.write("1", "d |a x\nother |a y\nb |a y\n")};
  options_.labels = folder_.write("list", "d\nb\n");
  for (const int ranks : {1, 2}) {
    for (const Ending& ending : train_on(ranks, options_)) {
      EXPECT_EQ(ending.fault, Fault::kBadData);
      EXPECT_THAT(ending.error,
                  HasSubstr("1:2:1: expected one of the labels that the run was begun with, found 'other'"));
    }
    TrainingOptions skipping = options_;
    skipping.skip_bad_lines = true;
    const Summary summary = results_on(ranks, skipping)[0].summary;
    EXPECT_EQ(summary.train.examples, 2U);
    EXPECT_EQ(summary.train_error_lines, 1U);
  }
  // In every format, and under every choice among several labels.
  for (const MultiLabel choice : {MultiLabel::kFirst, MultiLabel::kSample, MultiLabel::kSplit}) {
    options_.multilabel = choice;
    options_.data = {folder_.write("1", "d,b 1:1\nother,other 2:1\n")};
    EXPECT_THAT(train_on(1, options_)[0].error, HasSubstr("1:2:1: expected one of the labels"));
  }
  options_.data = {folder_.write("1", "__label__d x y\n__label__other x\n")};
  EXPECT_THAT(train_on(1, options_)[0].error, HasSubstr("expected one of the labels"));
}

TEST_F(KnownLabels, OthersAreNewWhereNothingIsLearned) {
  options_.data = {folder_.write("1", "d |a x\nb |a y\n")};
  options_.test = {folder_.write("2", "other |a x\nd |a x\n")};
  options_.test_frozen = true;
  const Summary summary = results_on(2, options_)[0].summary;
  EXPECT_EQ(summary.test.examples, 2U);
  EXPECT_EQ(summary.test.new_labels, 1U);
}

TEST_F(KnownLabels, AreOfNoUseToOtherMethods) {
  options_.data = {folder_.write("1", "d |a x\n")};
  options_.labels = folder_.write("list", "d\n");
  options_.model.method = Method::kTree;
  const Ending ending = std::move(train_on(1, options_)[0]);
  EXPECT_EQ(ending.fault, Fault::kUsage);
  EXPECT_THAT(ending.error, HasSubstr("--labels is for --method pecoc"));
}

TEST_F(KnownLabels, AreNotLookedForAnyLongerWhereTheRunIsToStop) {
  std::string nothing;  // to be learned, for many seconds
  const std::string frame = zstd(std::string(std::size_t{1} << 24, '\n'));
  for (int i = 0; i < 1000; ++i) nothing += frame;
  options_.data = {folder_.write("1", nothing), folder_.write("2", "d |a x\n")};
  options_.checkpoints.requested = [] { return Request::kStop; };
  for (const int ranks : {1, 2}) {
    const Ending ending = std::move(train_on(ranks, options_)[0]);
    EXPECT_EQ(ending.fault, Fault::kFailed) << "there is no checkpoint to resume from";
    EXPECT_THAT(ending.error, HasSubstr("stopped on request while it looked for the labels, and nothing is kept"));
  }
}

TEST_F(KnownLabels, MustBeSome) {
  options_.data = {folder_.write("1", "")};
  for (const int ranks : {1, 2}) EXPECT_EQ(train_on(ranks, options_)[0].fault, Fault::kNoInput);
}

}  // namespace
}  // namespace cpt
