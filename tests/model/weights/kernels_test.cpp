// Every kernel against a plain twin in double precision.
#include "model/weights/kernels.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <limits>
#include <vector>

#include "model/random_stream.h"
#include "model/weights/kernel_inputs.h"

namespace cpt {
namespace {

constexpr float kInfinity = std::numeric_limits<float>::infinity();
constexpr float kNaN = std::numeric_limits<float>::quiet_NaN();

double logistic(double z) { return 1 / (1 + std::exp(-z)); }

// |value - expected| <= relative * scale: for sums, `scale` is the sum of the magnitudes.
void expect_near(float value, double expected, double scale, double relative) {
  ASSERT_LE(std::abs(static_cast<double>(value) - expected), relative * scale) << value << " for " << expected;
}

class Shapes : public testing::TestWithParam<std::size_t> {
 protected:
  std::size_t features() const { return GetParam(); }
};
INSTANTIATE_TEST_SUITE_P(Features, Shapes, testing::Values(1, 2, 3, 5, 15, 16, 17, 31, 32, 33, 48, 70));

// A block whose margins are these: of one feature with value 1.
Row probabilities_of(const Row& margins, Loss loss) {
  alignas(64) Row row = margins;
  float* const rows[] = {row.data()};
  const float one = 1;
  Estimate estimate;
  predict_blocks({rows, &one, &one, 1, 1}, loss, nullptr, &estimate);
  return estimate.right;
}

TEST_P(Shapes, MarginsAreSumsOverFeatures) {
  for (std::size_t blocks = 1; blocks <= 13; ++blocks) {
    KernelInputs in(features(), blocks, features() + blocks);
    std::vector<Estimate> logistics(blocks);
    std::vector<Estimate> cut(blocks);
    predict_blocks(in.path(), Loss::kLogistic, nullptr, logistics.data());
    predict_blocks(in.path(), Loss::kSquared, nullptr, cut.data());
    for (std::size_t b = 0; b < blocks; ++b) {
      for (std::size_t s = 1; s < kLanes; ++s) {
        double sum = 0;
        double magnitude = 0;
        for (std::size_t f = 0; f < features(); ++f) {
          const double term = static_cast<double>(in.value(f)) * static_cast<double>(in.row(b, f)[s]);
          sum += term;
          magnitude += std::abs(term);
        }
        expect_near(cut[b].margin[s], sum, magnitude, 1e-5);
        expect_near(cut[b].right[s], std::clamp(sum, 0.0, 1.0), magnitude, 1e-5);
        expect_near(logistics[b].right[s], logistic(sum), logistic(sum) * (1 + magnitude), 1e-5);
      }
    }
  }
}

// Of squared loss: the errors are the targets, 0 or 1, less the margins.
class StepOfErrors {
 public:
  StepOfErrors(const std::vector<Row>& errors, Update update, float rate) {
    Row every;
    every.fill(1);
    for (const Row& row : errors) {
      Row right{};
      Estimate& estimate = estimates_.emplace_back();
      for (std::size_t s = 0; s < kLanes; ++s) {
        right[s] = row[s] > 0 ? 1.0F : 0.0F;
        estimate.margin[s] = right[s] - row[s];
      }
      targets_.push_back(targets_of(every, right));
    }
    for (const LaneTargets& targets : targets_) pointers_.push_back(&targets);
    update_step_ = {.estimates = estimates_.data(),
                    .targets = pointers_.data(),
                    .calibrators = nullptr,
                    .scratch = nullptr,
                    .squared_length = 1,
                    .importance = 1,
                    .loss = Loss::kSquared,
                    .update = update,
                    .rate = rate};
  }
  StepOfErrors(const StepOfErrors&) = delete;
  StepOfErrors& operator=(const StepOfErrors&) = delete;

  const UpdateStep& operator*() const { return update_step_; }

 private:
  std::vector<Estimate> estimates_;
  std::vector<LaneTargets> targets_;
  std::vector<const LaneTargets*> pointers_;
  UpdateStep update_step_{};
};

void move_rows(KernelInputs& in, const std::vector<Row>& errors, Update update, float rate) {
  train_blocks(in.path(), *StepOfErrors(errors, update, rate));
}

// The twin of train_blocks(), from the errors on.
void update_twin(std::vector<std::array<double, kLanes>>& table, const KernelInputs& in, const std::vector<Row>& errors,
                 Update update, double rate) {
  const std::vector<std::array<double, kLanes>> before = table;
  for (std::size_t b = 0; b < in.blocks(); ++b) {
    for (std::size_t f = 0; f < in.features(); ++f) {
      std::array<double, kLanes>& row = table[in.index(b, f)];
      const auto x = static_cast<double>(in.value(f));
      double squares = 0;
      for (std::size_t s = 1; s < kLanes; ++s) squares += std::pow(static_cast<double>(errors[b][s]), 2);
      if (squares == 0) continue;
      row[0] += x * x * squares;
      const double grown = before[in.index(b, f)][0] + x * x * squares;
      const double step = update == Update::kAdaptive ? rate * x / std::sqrt(grown) : rate * x;
      for (std::size_t s = 1; s < kLanes; ++s) row[s] += step * static_cast<double>(errors[b][s]);
    }
  }
}

TEST_P(Shapes, UpdatesMoveEveryLaneByItsError) {
  for (Update update : {Update::kAdaptive, Update::kSgd}) {
    for (std::size_t blocks = 1; blocks <= 13; ++blocks) {
      KernelInputs in(features(), blocks, 100 * features() + blocks);
      std::vector<std::array<double, kLanes>> twin = in.table_in_double();
      const std::vector<Row> errors = in.random_errors();
      update_twin(twin, in, errors, update, 0.5);
      move_rows(in, errors, update, 0.5F);
      for (std::size_t i = 0; i < twin.size(); ++i) {
        for (std::size_t s = 0; s < kLanes; ++s)
          expect_near(in.table(i)[s], twin[i][s], 1 + std::abs(twin[i][s]), 2e-6);
      }
    }
  }
}

TEST(Probabilities, AreTheLogisticFunctionWithinItsAccuracy) {
  Dice dice(1);
  for (int i = 0; i < 100000; ++i) {
    Row z;
    for (float& lane : z) lane = static_cast<float>(dice.between(-87, 87));
    const Row p = probabilities_of(z, Loss::kLogistic);
    for (std::size_t s = 0; s < kLanes; ++s) {
      const double expected = logistic(static_cast<double>(z[s]));
      expect_near(p[s], expected, expected, 3e-7);
    }
  }
}

TEST(Probabilities, AreTheMarginCutToTheUnitIntervalForSquaredLoss) {
  const Row z = {-kInfinity, -1e6F, -1, -1e-30F, -0.0F, 0, 1e-30F, 0.25F, 0.5F, 0.75F, 1, 1.5F, 1e6F, 1e30F, 3, 4};
  const Row p = probabilities_of(z, Loss::kSquared);
  for (std::size_t s = 1; s < kLanes; ++s) EXPECT_EQ(p[s], std::clamp(z[s], 0.0F, 1.0F)) << z[s];
}

TEST(Probabilities, OfHugeMarginsAreAlmostCertain) {
  const Row z = {0, 1e6F, -1e6F, 1e30F, -1e30F, 88, -88};
  const Row p = probabilities_of(z, Loss::kLogistic);
  for (std::size_t s : {1U, 3U, 5U}) EXPECT_EQ(p[s], 1) << z[s];
  for (std::size_t s : {2U, 4U, 6U}) {
    EXPECT_GE(p[s], 0) << z[s];
    EXPECT_LT(p[s], 1e-37F) << z[s];
  }
}

TEST(Probabilities, AreMonotonicAndHalfAtZero) {
  Row before;
  before.fill(0);
  for (float z = -90; z <= 90; z += 0.01F) {
    Row margins;
    margins.fill(z);
    const Row p = probabilities_of(margins, Loss::kLogistic);
    for (std::size_t s = 0; s < kLanes; ++s) ASSERT_GE(p[s], before[s]) << z;
    before = p;
  }
  for (float p : probabilities_of({}, Loss::kLogistic)) EXPECT_EQ(p, 0.5F);
}

TEST(Probabilities, OfMarginsThatAreNotFiniteAreNaN) {
  for (Loss loss : {Loss::kLogistic, Loss::kSquared}) {
    Row z{};
    for (std::size_t s = 1; s < kLanes; s += 3) z[s] = s % 2 == 0 ? kNaN : s % 4 == 1 ? kInfinity : -kInfinity;
    const Row p = probabilities_of(z, loss);
    for (std::size_t s = 1; s < kLanes; ++s) EXPECT_EQ(std::isnan(p[s]), !std::isfinite(z[s])) << "lane " << s;
  }
}

// By one step of size 1 from rows of zeros: what a lane becomes is its error, and lane 0 the sum of their squares.
TEST(Errors, AreScaledOnTrainedLanesAndZeroElsewhere) {
  for (const std::size_t blocks : {1U, 6U, 8U, 9U, 20U}) {
    Dice dice(blocks);
    std::vector<Estimate> p(blocks);
    std::vector<LaneTargets> targets(blocks);
    std::vector<const LaneTargets*> pointers;
    for (std::size_t b = 0; b < blocks; ++b) {
      Row trained{};
      Row right{};
      for (std::size_t s = 0; s < kLanes; ++s) {
        p[b].margin[s] = static_cast<float>(dice.unit());
        trained[s] = dice.chance(0.4) ? 1.0F : 0.0F;
        right[s] = dice.chance(0.5) ? 1.0F : 0.0F;
      }
      targets[b] = targets_of(trained, right);
      pointers.push_back(&targets[b]);
    }
    std::vector<AlignedRow> table(blocks);
    std::vector<float*> rows;
    for (AlignedRow& row : table) rows.push_back(row.lanes.data());
    const float one = 1;
    std::vector<float> before(blocks * kLanes);
    train_blocks({rows.data(), &one, &one, 1, blocks, before.data()}, {.estimates = p.data(),
                                                                       .targets = pointers.data(),
                                                                       .calibrators = nullptr,
                                                                       .scratch = nullptr,
                                                                       .squared_length = 2,
                                                                       .importance = 0.5F,
                                                                       .loss = Loss::kSquared,
                                                                       .update = Update::kSgd,
                                                                       .rate = 1});
    for (std::size_t b = 0; b < blocks; ++b) {
      const Row& errors = table[b].lanes;
      double squares = 0;
      for (std::size_t s = 1; s < kLanes; ++s) {
        const double target = is_right(targets[b], s) ? 1 : 0;
        const double error = is_trained(targets[b], s) ? 0.25 * (target - static_cast<double>(p[b].margin[s])) : 0;
        expect_near(errors[s], error, 1, 1e-7);
        squares += error * error;
      }
      expect_near(errors[0], squares, squares, 1e-6);
    }
  }
}

// What comes of a lane that no label's path uses is not learned of.
TEST(Errors, OfLanesThatAreNotTrainedReachNoLane) {
  alignas(64) Row row{};
  float* const rows[] = {row.data()};
  const float one = 1;
  Estimate p{};
  p.margin[0] = p.margin[2] = kNaN;
  Row trained{};
  trained[1] = 1;
  const LaneTargets targets = targets_of(trained, trained);
  const LaneTargets* const pointer = &targets;
  Row before{};
  train_blocks({rows, &one, &one, 1, 1, before.data()}, {.estimates = &p,
                                                         .targets = &pointer,
                                                         .calibrators = nullptr,
                                                         .scratch = nullptr,
                                                         .squared_length = 2,
                                                         .importance = 1,
                                                         .loss = Loss::kSquared,
                                                         .update = Update::kAdaptive,
                                                         .rate = 1});
  EXPECT_EQ(row[0], 0.25F);
  EXPECT_EQ(row[1], 1);
  for (std::size_t lane = 2; lane < kLanes; ++lane) EXPECT_EQ(row[lane], 0) << lane;
}

TEST(LaneTargets, ListTheTrainedLanesAscendingAndFillUpWithZeros) {
  for (const std::vector<std::uint8_t>& lanes : std::vector<std::vector<std::uint8_t>>{
           {}, {1}, {15}, {2, 3, 7, 15}, {1, 4, 5, 8, 9}, {1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15}}) {
    Row trained{};
    Row right{};
    Row nodes{};
    trained[0] = 1;  // which no regressor has
    for (std::uint8_t lane : lanes) {
      trained[lane] = 1;
      right[lane] = lane % 2 == 0 ? 1.0F : 0.0F;
      nodes[lane] = lane % 3 == 0 ? 1.0F : 0.0F;
    }
    const LaneTargets targets = targets_of(trained, right, nodes);
    ASSERT_EQ(targets.count, (lanes.size() + 3) / 4 * 4);
    LaneTargets expected{};
    expected.index_of_lane.fill(LaneTargets::kNotTrained);
    for (std::size_t i = 0; i < lanes.size(); ++i) {
      expected.lanes[i] = lanes[i];
      expected.nodes[i] = lanes[i] % 3 == 0 ? lanes[i] : std::uint8_t{0};
      expected.index_of_lane[lanes[i]] = static_cast<std::uint8_t>(i);
      expected.towards[i] = lanes[i] % 2 == 0 ? 1.0F : -1.0F;
    }
    EXPECT_EQ(targets.lanes, expected.lanes);
    EXPECT_EQ(targets.nodes, expected.nodes);
    EXPECT_EQ(targets.index_of_lane, expected.index_of_lane);
    EXPECT_EQ(targets.towards, expected.towards);
  }
}

// One row, one feature, one trained slot.
struct OneUpdate {
  float before = 0;
  float value = 1;
  float error = 0.5F;
  Update update = Update::kAdaptive;

  Row after() const {
    KernelInputs in(1, 1, 1);
    std::fill_n(in.table(0), kLanes, 0.0F);
    in.table(0)[0] = before;
    in.set_value(0, value);
    move_rows(in, {{error * error, error}}, update, 1.0F);
    Row row;
    std::copy_n(in.table(0), kLanes, row.begin());
    return row;
  }
};

TEST(Updates, TheFirstAdaptiveStepIsTheRateWhateverTheScaleOfTheFeature) {
  for (float x : {1e-10F, 1e-3F, 1.0F, 1e3F, 1e15F}) {
    EXPECT_NEAR(OneUpdate{.value = x}.after()[1], 1, 1e-6) << x;
    EXPECT_NEAR(OneUpdate{.value = -x}.after()[1], -1, 1e-6) << x;
  }
}

TEST(Updates, ExtremeValuesLeaveFiniteWeights) {
  for (float x : {1e-30F, 1e-20F, 1e20F, 1e30F}) {
    // Divided by |x|^2, the constant feature's 1 included.
    const auto error = static_cast<float>(-0.5 / (1 + static_cast<double>(x) * static_cast<double>(x)));
    for (Update update : {Update::kAdaptive, Update::kSgd}) {
      const Row row = OneUpdate{.value = x, .error = error, .update = update}.after();
      EXPECT_TRUE(std::isfinite(row[0]) && std::isfinite(row[1])) << x;
    }
  }
}

TEST(Updates, ARowThatMovedIsUsedHoweverSmallTheStep) {
  for (Update update : {Update::kAdaptive, Update::kSgd}) {
    const Row tiny_value = OneUpdate{.value = 1e-23F, .update = update}.after();
    EXPECT_NE(tiny_value[1], 0);
    EXPECT_GT(tiny_value[0], 0);
    const Row tiny_error = OneUpdate{.value = 0.01F, .error = -1e-21F, .update = update}.after();
    EXPECT_NE(tiny_error[1], 0);
    EXPECT_GT(tiny_error[0], 0);
  }
}

TEST(Updates, WithoutErrorNothingMoves) {
  const Row row = OneUpdate{.before = 0.25F, .error = 0}.after();
  EXPECT_EQ(row, (Row{0.25F}));
}

TEST(Updates, NaNStaysNaN) {
  const Row row = OneUpdate{.error = kNaN}.after();
  EXPECT_TRUE(std::isnan(row[0]));
  EXPECT_TRUE(std::isnan(row[1]));
}

// A row that occurs twice, in a block or in two, takes both steps. Neither sees the growth of the other.
TEST(Updates, ARepeatedRowIsMovedByEachOfItsFeatures) {
  for (const Update update : {Update::kAdaptive, Update::kSgd}) {
    for (std::size_t again : {4U, 3U + 15U, 3U + 16U, 3U + 40U, 70U + 3U, 140U + 5U}) {
      KernelInputs in(70, 3, again);
      in.repeat_row(3, again);
      std::vector<std::array<double, kLanes>> twin = in.table_in_double();
      const std::vector<Row> errors(3, Row{0.25F, 0.5F});
      update_twin(twin, in, errors, update, 0.5);
      move_rows(in, errors, update, 0.5F);
      const std::size_t row = in.index(0, 3);
      for (std::size_t s = 0; s < kLanes; ++s) {
        expect_near(in.table(row)[s], twin[row][s], 1 + std::abs(twin[row][s]), 2e-6);
      }
    }
  }
}

TEST(Updates, ARepeatedRowTakesTwoFullFirstStepsWhenAdaptive) {
  KernelInputs in(2, 1, 1);
  in.repeat_row(0, 1);
  std::fill_n(in.table(in.index(0, 0)), kLanes, 0.0F);
  in.set_value(0, 1);
  in.set_value(1, 1);
  move_rows(in, {{0.25F, 0.5F}}, Update::kAdaptive, 1.0F);
  EXPECT_NEAR(in.table(in.index(0, 0))[1], 2, 1e-6);
  EXPECT_NEAR(in.table(in.index(0, 0))[0], 0.5, 1e-6);
}

}  // namespace
}  // namespace cpt
