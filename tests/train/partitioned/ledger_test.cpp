// The ledger of a rank: what its examples came to is entered in any order, and each is counted once.
#include "train/partitioned/ledger.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "cpt/error.h"
#include "model/learning/losses.h"
#include "train/job.h"

namespace cpt {
namespace {

PartialResult partial(PartialResult::Kind kind, LabelId label, double value) { return {0, kind, label, value}; }

class Ledger : public ::testing::Test {
 protected:
  // An example whose label has number `label`; the importance is 2.
  void add(std::uint64_t order, LabelId label) { ledger_.add(order, 2, label); }
  const Losses& count_until(std::uint64_t order) {
    ledger_.count_until(order, options_, losses_);
    return losses_;
  }
  const Losses& count_all() { return count_until(~std::uint64_t{0}); }

  ModelOptions options_;
  RoundLedger ledger_{1};
  Losses losses_;
};

std::uint64_t first_sample() {
  std::uint64_t number = 1;
  while (!is_sampled(number)) ++number;
  return number;
}

TEST_F(Ledger, MultipliesThePartsOfAnExample) {
  add(0, 7);
  ledger_.enter(partial(PartialResult::Kind::kDeep, 0, 0.25));
  ledger_.enter(partial(PartialResult::Kind::kUpper, 0, 0.5));
  ledger_.enter(partial(PartialResult::Kind::kUpper, 0, 0.5));
  EXPECT_EQ(count_all().squared_seen, ExactSum(2 * 0.9375 * 0.9375));
  EXPECT_DOUBLE_EQ(losses_.log_seen, 2 * std::log(16));
  EXPECT_EQ(losses_.seen_weight, ExactSum(2));
  EXPECT_EQ(losses_.brier_samples + losses_.top1_samples, 0U);
}

TEST_F(Ledger, CountsTheMeanOfTheTrees) {
  ledger_ = RoundLedger(2);
  add(0, 0);
  ledger_.enter({0, PartialResult::Kind::kUpper, 0, 0.5});
  ledger_.enter({1, PartialResult::Kind::kUpper, 0, 0.25});
  ledger_.enter({1, PartialResult::Kind::kDeep, 0, 0.5});
  const double p = (0.5 + 0.125) / 2;
  EXPECT_EQ(count_all().squared_seen, ExactSum(2 * (1 - p) * (1 - p)));
}

TEST_F(Ledger, CountsSampledExamplesByTheirNumber) {
  add(0, 7);
  ledger_.enter(Numbered{.number = first_sample(), .slot = 0, .label = 7});
  ledger_.enter(partial(PartialResult::Kind::kUpper, 0, 0.5));
  ledger_.enter(partial(PartialResult::Kind::kDrawn, 3, 0.125));
  EXPECT_EQ(count_all().brier_samples, 1U);
  EXPECT_EQ(losses_.brier_weight, ExactSum(2 * 64));
  EXPECT_EQ(losses_.other_squares, ExactSum(2 * 64 * 0.125));
  EXPECT_DOUBLE_EQ(losses_.mean_brier_seen(), (1 - 0.5) * (1 - 0.5) + 0.125);
  EXPECT_EQ(losses_.top1_samples, 1U);
}

TEST_F(Ledger, CountsNoDrawOfTheLabelItself) {
  ledger_ = RoundLedger(2);
  options_.trees = 2;
  add(0, 7);
  ledger_.enter(Numbered{.number = first_sample(), .slot = 0, .label = 7});
  ledger_.enter({0, PartialResult::Kind::kDrawn, 7, 0.5});
  ledger_.enter({1, PartialResult::Kind::kDrawn, 3, 0.125});
  EXPECT_EQ(count_all().brier_samples, 1U);
  EXPECT_EQ(losses_.other_squares, ExactSum(2 * 64 * 0.125 / 4));
  EXPECT_EQ(losses_.top1_samples, 0U) << "several trees are not searched";
}

TEST_F(Ledger, TakesTheBestLabelAndOfEqualOnesTheLowest) {
  const auto is_right_after = [&](const std::vector<std::pair<LabelId, double>>& found) {
    ledger_.clear();
    losses_ = {};
    add(0, 5);
    ledger_.enter(Numbered{.number = first_sample(), .slot = 0, .label = 5});
    for (const auto& [label, value] : found) ledger_.enter(partial(PartialResult::Kind::kFound, label, value));
    EXPECT_EQ(count_all().top1_samples, 1U);
    return static_cast<double>(losses_.top1_error) == 0;
  };
  EXPECT_FALSE(is_right_after({}));
  EXPECT_TRUE(is_right_after({{5, 0.25}, {7, 0.125}}));
  EXPECT_TRUE(is_right_after({{7, 0.25}, {5, 0.25}}));
  EXPECT_TRUE(is_right_after({{5, 0.25}, {7, 0.25}}));
  EXPECT_FALSE(is_right_after({{5, 0.25}, {3, 0.25}}));
  EXPECT_FALSE(is_right_after({{5, 0.25}, {9, 0.5}}));
}

TEST_F(Ledger, CountsNewLabelsApart) {
  add(0, kNoLabel);
  add(1, kNoLabel);
  ledger_.enter(Numbered{.number = 0, .slot = 0, .label = 3, .is_new = 1});
  ledger_.enter(Numbered{.number = 0, .slot = 1, .label = 3, .is_new = 0});
  EXPECT_EQ(count_all().examples, 2U);
  EXPECT_EQ(losses_.new_labels, 1U);
  EXPECT_EQ(losses_.seen_weight, ExactSum(2));
}

TEST_F(Ledger, CountsEachExampleOnceUpToAPlaceInTheOrder) {
  for (std::uint64_t order = 10; order < 20; ++order) add(order, 0);
  EXPECT_EQ(count_until(9).examples, 0U);
  EXPECT_EQ(count_until(12).examples, 3U);
  EXPECT_EQ(count_until(12).examples, 3U);
  EXPECT_EQ(count_all().examples, 10U);
  ledger_.clear();
  EXPECT_EQ(count_all().examples, 10U);
}

TEST_F(Ledger, TellsThatTheWeightsHaveDiverged) {
  add(0, 0);
  ledger_.enter(partial(PartialResult::Kind::kDeep, 0, std::numeric_limits<double>::quiet_NaN()));
  EXPECT_THROW(count_all(), Error);
}

TEST_F(Ledger, RefusesResultsOfUnknownSlots) {
  add(0, 0);
  expect_protocol_error(thrown_by([&] { ledger_.enter(PartialResult{1, PartialResult::Kind::kDeep, 0, 0.5}); }));
  expect_protocol_error(thrown_by([&] { ledger_.enter(Numbered{.slot = 1}); }));
}

// The message of a rank with one of each, whose header says otherwise.
Buffer results_message(std::uint64_t partials, std::uint64_t numbered, std::uint64_t splits) {
  Buffer message;
  const ResultHeader header{0, partials, numbered, splits};
  const PartialResult result(0, PartialResult::Kind::kDeep, 0, 0.5);
  const Numbered number{.number = 0, .slot = 0, .label = 4};
  const Split split{7, 3, 2, 0};
  message.append(&header, sizeof header);
  message.append(&result, sizeof result);
  message.append(&number, sizeof number);
  message.append(&split, sizeof split);
  return message;
}

TEST_F(Ledger, EntersTheMessageOfARank) {
  add(0, kNoLabel);
  std::vector<Split> splits;
  ledger_.enter_all(results_message(1, 1, 1).bytes(), splits);
  EXPECT_EQ(count_all().squared_seen, ExactSum(0.5));
  ASSERT_EQ(splits.size(), 1U);
  EXPECT_EQ(splits[0].label, 7U);
}

TEST_F(Ledger, RefusesCountsThatDoNotFitTheMessage) {
  const std::uint64_t huge = std::uint64_t{1} << 60;  // times 16 overflows
  const std::uint64_t counts[][3] = {{0, 1, 1},        {2, 1, 1},
                                     {3, 0, 0},        {1, 0, 1},
                                     {1, 2, 1},        {1, 1, 0},
                                     {1, 1, 2},        {huge, 1, 1},
                                     {1, huge, 1},     {1, 1, huge},
                                     {4, 0, 0},        {huge + 1, 1, 1},
                                     {1, huge + 1, 1}, {1, 1, (std::uint64_t{1} << 62) + 1}};
  for (const auto& [partials, numbered, splits] : counts) {
    SCOPED_TRACE(testing::Message() << partials << ' ' << numbered << ' ' << splits);
    ledger_.clear();
    for (std::uint64_t i = 0; i < 8; ++i) add(i, 0);
    std::vector<Split> taken;
    expect_protocol_error(
        thrown_by([&] { ledger_.enter_all(results_message(partials, numbered, splits).bytes(), taken); }));
  }
}

}  // namespace
}  // namespace cpt
