// What becomes of requests at a safe point.
#include "train/checkpoint/safe_point.h"

#include <gtest/gtest.h>

#include "comm/agreement.h"
#include "comm/alone.h"
#include "train/job.h"

namespace cpt {
namespace {

TEST(TimeoutForDisks, GrowsWithTheTablesOfAllTrees) {
  EXPECT_EQ(timeout_for_disks({.bits = 22}), std::chrono::minutes(1));
  EXPECT_EQ(timeout_for_disks({.bits = 25}), std::chrono::minutes(3));
  EXPECT_EQ(timeout_for_disks({.trees = 8, .bits = 25}), std::chrono::minutes(17));
}

// Of a run that writes no checkpoints.
class SafePointTest : public ::testing::Test {
 protected:
  CheckpointOptions options() {
    CheckpointOptions options;
    options.requested = [this] { return std::exchange(coming_, Request::kNone); };
    return options;
  }

  Request coming_ = Request::kNone;
  const CheckpointOptions options_ = options();
  Alone comm_;
  const Learner learner_{ModelOptions{.bits = kLeastBits}};
  TraversalPlan plan_{{}, {}, {}};
  Recorder recorder_;
  Progress progress_{comm_, learner_, recorder_, std::chrono::milliseconds(0)};
  SafePoint safe_point_{options_, comm_, learner_, plan_, progress_, [] { return SafePoint::Snapshot(); }};
};

constexpr std::uint64_t kCheckpointNow = RequestBits::kCheckpoint | RequestBits::kNow;
constexpr std::uint64_t kStopNow = RequestBits::kStop | RequestBits::kNow;

TEST_F(SafePointTest, GrantsWhatWasAskedFor) {
  coming_ = Request::kCheckpoint;
  EXPECT_EQ(safe_point_.requests(), kCheckpointNow);
  EXPECT_EQ(safe_point_.requests(), kCheckpointNow) << "until it is granted";
  safe_point_.pause(kCheckpointNow, {});
  EXPECT_EQ(safe_point_.requests(), 0U);
  EXPECT_EQ(recorder_.warnings.size(), 1U);
}

// As while ranks wait for input, after they agreed on what to grant.
TEST_F(SafePointTest, KeepsARequestToStopThatComesTooLateForThisPause) {
  coming_ = Request::kCheckpoint;
  const std::uint64_t granted = safe_point_.requests();
  coming_ = Request::kStop;
  EXPECT_EQ(safe_point_.requests(), kCheckpointNow | kStopNow);
  safe_point_.pause(granted, {});
  EXPECT_EQ(safe_point_.requests(), kStopNow);
  EXPECT_THROW(safe_point_.pause(kStopNow, {}), AgreedError);
}

TEST_F(SafePointTest, EndsARankThatWaitsInVain) {
  safe_point_.on_input_idle();
  coming_ = Request::kStop;
  EXPECT_THROW(safe_point_.on_input_idle(), Error);
}

}  // namespace
}  // namespace cpt
