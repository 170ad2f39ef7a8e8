// The kernels of the safe step and of calibrators against plain twins in double precision.
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <vector>

#include "model/random_stream.h"
#include "model/weights/kernel_inputs.h"

namespace cpt {
namespace {

double logistic(double z) { return 1 / (1 + std::exp(-z)); }

// v' with v' + exp(v') = v + exp(v) + q, by bisection.
double logistic_flow(double v, double q) {
  const double end = v + std::exp(v) + q;
  double low = v;
  double high = v + q;
  for (int i = 0; i < 200; ++i) {
    const double middle = (low + high) / 2;
    (middle + std::exp(middle) < end ? low : high) = middle;
  }
  return low;
}

// Where the gradient flow of the loss takes a margin.
double flow(Loss loss, double z, bool right, double q) {
  if (loss == Loss::kSquared) {
    const double target = right ? 1 : 0;
    if (right ? z >= 1 : z <= 0) return z;
    return target + (z - target) * std::exp(-q);
  }
  const double v = std::clamp(right ? z : -z, -60.0, 20.0);
  const double change = logistic_flow(v, q) - v;
  return z + (right ? change : -change);
}

// A random example with random targets, the estimates of its rows, and a step of them.
struct SafeCase {
  SafeCase(std::size_t features, std::size_t blocks, Loss loss, float importance, std::uint64_t seed)
      : in(features, blocks, seed), estimates(blocks), scratch(scratch_floats(features) / kLanes) {
    Dice dice(seed + 1);
    for (std::size_t b = 0; b < blocks; ++b) {
      Row trained{};
      Row right{};
      for (std::size_t s = 1; s < kLanes; ++s) {
        trained[s] = dice.chance(0.4) ? 1.0F : 0.0F;
        right[s] = dice.chance(0.5) ? 1.0F : 0.0F;
      }
      targets.push_back(targets_of(trained, right));
    }
    for (const LaneTargets& of_block : targets) pointers.push_back(&of_block);
    predict_blocks(in.path(), loss, nullptr, estimates.data());
    step = {.estimates = estimates.data(),
            .targets = pointers.data(),
            .calibrators = nullptr,
            .scratch = scratch.data()->lanes.data(),
            .squared_length = 1,
            .importance = importance,
            .loss = loss,
            .update = Update::kSafe,
            .rate = 0.8F};
  }

  KernelInputs in;
  std::vector<Estimate> estimates;
  std::vector<LaneTargets> targets;
  std::vector<const LaneTargets*> pointers;
  std::vector<AlignedRow> scratch;
  UpdateStep step{};
};

using Table = std::vector<std::array<double, kLanes>>;

void safe_twin(const SafeCase& of, std::size_t b, const Table& before, Table& after) {
  const KernelInputs& in = of.in;
  const LaneTargets& targets = of.targets[b];
  const double h = of.step.importance;
  double squares = 0;
  for (std::size_t s = 1; s < kLanes; ++s) {
    const double z = of.estimates[b].margin[s];
    const double p = of.step.loss == Loss::kLogistic ? logistic(z) : std::clamp(z, 0.0, 1.0);
    if (is_trained(targets, s)) squares += std::pow((is_right(targets, s) ? 1 : 0) - p, 2);
  }
  if (squares == 0) return;
  std::vector<double> steps;
  double u = 0;
  for (std::size_t f = 0; f < in.features(); ++f) {
    const double x = in.value(f);
    const double growth = (h <= 1 ? h : 1 + std::log(h)) * x * x * squares;
    const double before_growth = before[in.index(b, f)][0];
    steps.push_back(x / std::sqrt(before_growth + growth + 0.2 * x * x));
    u += x * steps.back();
    after[in.index(b, f)][0] += growth;
  }
  for (std::size_t s = 1; s < kLanes; ++s) {
    if (!is_trained(targets, s)) continue;
    const double z = of.estimates[b].margin[s];
    const double change = flow(of.step.loss, z, is_right(targets, s), of.step.rate * h * u) - z;
    for (std::size_t f = 0; f < in.features(); ++f) after[in.index(b, f)][s] += steps[f] * change / u;
  }
}

class SafeStep : public testing::TestWithParam<std::tuple<Loss, float>> {};

TEST_P(SafeStep, FollowsTheGradientFlow) {
  const auto [loss, importance] = GetParam();
  for (std::size_t features : {1U, 2U, 5U, 15U, 16U, 17U, 40U}) {
    for (std::size_t blocks : {1U, 2U, 5U, 9U}) {
      SafeCase of(features, blocks, loss, importance, 100 * features + blocks);
      // Another block that shares a row would move it, too.
      Table before = of.in.table_in_double();
      Table after = before;
      safe_twin(of, 0, before, after);
      PathRows first = of.in.path();
      first.blocks = 1;
      train_blocks(first, of.step);
      for (std::size_t f = 0; f < features; ++f) {
        const std::size_t row = of.in.index(0, f);
        for (std::size_t s = 0; s < kLanes; ++s) {
          const double moved = of.in.table(row)[s] - before[row][s];
          const double expected = after[row][s] - before[row][s];
          ASSERT_NEAR(moved, expected, 0.011 * std::abs(expected) + 2e-6 * (1 + std::abs(before[row][s])))
              << "lane " << s;
        }
      }
    }
  }
}

INSTANTIATE_TEST_SUITE_P(LossesAndImportances, SafeStep,
                         testing::Combine(testing::Values(Loss::kLogistic, Loss::kSquared),
                                          testing::Values(1e-3F, 0.3F, 1.0F, 20.0F, 1e6F)));

// One feature and one lane: how far a step takes a margin.
float step_from(Loss loss, float z, bool right, float value, float importance, float rate = 1) {
  alignas(64) Row row{};
  row[1] = z / value;
  float* const rows[] = {row.data()};
  Row trained{};
  trained[1] = 1;
  Row to{};
  to[1] = right ? 1.0F : 0.0F;
  const LaneTargets targets = targets_of(trained, to);
  const LaneTargets* const pointer = &targets;
  Estimate estimate;
  Row before{};
  const PathRows path{rows, &value, &value, 1, 1, before.data()};
  predict_blocks(path, loss, nullptr, &estimate);
  std::vector<AlignedRow> scratch(scratch_floats(1) / kLanes);
  train_blocks(path, {.estimates = &estimate,
                      .targets = &pointer,
                      .calibrators = nullptr,
                      .scratch = scratch.data()->lanes.data(),
                      .squared_length = 1,
                      .importance = importance,
                      .loss = loss,
                      .update = Update::kSafe,
                      .rate = rate});
  predict_blocks(path, loss, nullptr, &estimate);
  return estimate.margin[1];
}

TEST(SafeStepOfAnySize, GoesTowardsTheTargetAndNeverBeyond) {
  for (const float importance : {1e-12F, 1e-3F, 1.0F, 1e3F, 1e12F}) {
    for (const float value : {1e-9F, 0.1F, 1.0F, 1e4F, 1e9F}) {
      for (const float rate : {1e-12F, 1.0F, 1e12F}) {
        for (const float z : {-50.0F, -3.0F, 0.0F, 0.5F, 3.0F, 50.0F}) {
          for (const bool right : {false, true}) {
            SCOPED_TRACE(testing::Message() << importance << " " << value << " " << rate << " " << z << " " << right);
            const float after = step_from(Loss::kLogistic, z, right, value, importance, rate);
            ASSERT_TRUE(std::isfinite(after));
            const float slack = 1e-5F * (1 + std::abs(z));
            EXPECT_GE(right ? after : -after, (right ? z : -z) - slack);
            // The logistic flow has no end, but grows with the logarithm of time only.
            EXPECT_LE(std::abs(after), std::max(std::abs(z), 100.0F) + slack);
            const float squared = step_from(Loss::kSquared, z, right, value, importance, rate);
            const float target = right ? 1.0F : 0.0F;
            EXPECT_GE(squared, std::min(z, target) - slack);
            EXPECT_LE(squared, std::max(z, target) + slack);
          }
        }
      }
    }
  }
}

TEST(Calibrated, ProbabilitiesAreThoseOfTheFormula) {
  for (std::size_t features : {1U, 7U, 16U, 33U}) {
    for (std::size_t blocks = 1; blocks <= 13; ++blocks) {
      KernelInputs in(features, blocks, features + blocks);
      Dice dice(blocks);
      std::vector<Calibrator> calibrators;
      for (std::size_t b = 0; b < blocks; ++b) calibrators.push_back(random_calibrator(dice));
      std::vector<const Calibrator*> pointers;
      for (const Calibrator& calibrator : calibrators) pointers.push_back(&calibrator);
      std::vector<Estimate> estimates(blocks);
      predict_blocks(in.path(), Loss::kLogistic, pointers.data(), estimates.data());
      for (std::size_t b = 0; b < blocks; ++b) {
        for (std::size_t s = 1; s < kLanes; ++s) {
          double z = 0;
          double y = 0;
          double magnitude = 1;
          for (std::size_t f = 0; f < features; ++f) {
            const double w = in.row(b, f)[s];
            z += w * in.value(f);
            y += w * in.scaled(f);
            magnitude += std::abs(w * in.value(f)) + std::abs(w * in.scaled(f));
          }
          EXPECT_NEAR(estimates[b].margin[s], z, 1e-5 * magnitude);
          EXPECT_NEAR(estimates[b].scaled[s], y, 1e-5 * magnitude);
          const Calibrator& by = calibrators[b];
          const double m = by.at(s, Calibrator::kA) * std::clamp(z, -30.0, 30.0) + by.at(s, Calibrator::kB) +
                           by.at(s, Calibrator::kC) * std::clamp(y, -30.0, 30.0);
          EXPECT_NEAR(estimates[b].right[s], logistic(1.05 * m), 2e-5 * magnitude);
        }
      }
    }
  }
}

// Its twin is predict_blocks(), which the test above compares with the formula.
TEST(Calibrated, PathsGiveTheProbabilitiesOfTrainedLanesToTheLastBit) {
  Dice dice(5);
  for (const double share : {0.0, 0.1, 0.3, 0.7, 1.0}) {
    for (std::size_t blocks = 1; blocks <= 20; ++blocks) {
      KernelInputs in(7, blocks, blocks);
      std::vector<Calibrator> calibrators;
      std::vector<LaneTargets> targets;
      for (std::size_t b = 0; b < blocks; ++b) {
        calibrators.push_back(random_calibrator(dice));
        Row trained;
        for (float& lane : trained) lane = dice.chance(share) ? 1.0F : 0.0F;
        targets.push_back(targets_of(trained, {}));
      }
      std::vector<const Calibrator*> predicting;
      for (const Calibrator& calibrator : calibrators) predicting.push_back(&calibrator);
      std::vector<const LaneTargets*> of_blocks;
      for (const LaneTargets& of_block : targets) of_blocks.push_back(&of_block);
      std::vector<Estimate> every(blocks);
      std::vector<Estimate> of_path(blocks);
      predict_blocks(in.path(), Loss::kLogistic, predicting.data(), every.data());
      predict_path(in.path(), of_blocks.data(), predicting.data(), of_path.data());
      for (std::size_t b = 0; b < blocks; ++b) {
        EXPECT_EQ(of_path[b].margin, every[b].margin);
        EXPECT_EQ(of_path[b].scaled, every[b].scaled);
        for (std::size_t s = 1; s < kLanes; ++s) {
          if (!is_trained(targets[b], s)) continue;
          EXPECT_EQ(of_path[b].right[s], every[b].right[s]) << "lane " << s;
        }
      }
    }
  }
}

TEST(Calibrated, MarginsThatAreNotFiniteGiveNaN) {
  alignas(64) Row row{};
  row[1] = std::numeric_limits<float>::infinity();
  row[2] = std::numeric_limits<float>::quiet_NaN();
  float* const rows[] = {row.data()};
  const float one = 1;
  const Calibrator* const calibrator = &kFirstCalibrator;
  Estimate estimate;
  predict_blocks({rows, &one, &one, 1, 1}, Loss::kLogistic, &calibrator, &estimate);
  EXPECT_TRUE(std::isnan(estimate.right[1]));
  EXPECT_TRUE(std::isnan(estimate.right[2]));
  EXPECT_EQ(estimate.right[3], 0.5F);
  Row trained{};
  trained[1] = trained[2] = trained[3] = 1;
  const LaneTargets targets = targets_of(trained, {});
  const LaneTargets* const pointer = &targets;
  estimate.right = {};
  predict_path({rows, &one, &one, 1, 1}, &pointer, &calibrator, &estimate);
  EXPECT_TRUE(std::isnan(estimate.right[1]));
  EXPECT_TRUE(std::isnan(estimate.right[2]));
  EXPECT_EQ(estimate.right[3], 0.5F);
}

// Trains the calibrator of one block by given margins, whatever becomes of its row.
class CalibratorOfABlock {
 public:
  void learn(const Row& z, const Row& y, const Row& right, const Row& nodes, float importance) {
    Estimate estimate{};
    estimate.margin = z;
    estimate.scaled = y;
    Row every;
    every.fill(1);
    const LaneTargets targets = targets_of(every, right, nodes);
    const LaneTargets* const pointer = &targets;
    Calibrator* const calibrator = &calibrator_;
    float* const rows[] = {row_.data()};
    const float one = 1;
    Row before{row_[0]};
    train_blocks({rows, &one, &one, 1, 1, before.data()}, {.estimates = &estimate,
                                                           .targets = &pointer,
                                                           .calibrators = &calibrator,
                                                           .scratch = scratch_.data()->lanes.data(),
                                                           .squared_length = 1,
                                                           .importance = importance,
                                                           .loss = Loss::kLogistic,
                                                           .update = Update::kSafe,
                                                           .rate = 1});
  }
  const Calibrator& get() const { return calibrator_; }

 private:
  Calibrator calibrator_ = kFirstCalibrator;
  alignas(64) Row row_{};
  std::vector<AlignedRow> scratch_ = std::vector<AlignedRow>(scratch_floats(1) / kLanes);
};

// Of one lane.
struct CalibratorTwin {
  double a = 1, b = 0, c = 1.5;
  double s[3][3] = {{0.1, 0, 0}, {0, 0.5, 0}, {0, 0, 0.1}};

  // As so many examples of importance 1 one after another, at first; then more and more of them in one step.
  void learn(double z, double y, double right, double importance) {
    const double most = std::min<double>(importance, Calibrator::kMostImportance);
    double learned = 0;
    while (learned < most) {
      const double h = std::min(most - learned, std::max(learned, 1.0));
      step(z, y, right, h, 3e-5 * std::min(most, 1 / most));
      learned += h;
    }
  }

  void step(double z, double y, double right, double h, double phi) {
    const double f[3] = {std::clamp(z, -30.0, 30.0), 1, std::clamp(y, -30.0, 30.0)};
    const double p = logistic(a * f[0] + b + c * f[2]);
    double k[3] = {};
    for (int i = 0; i < 3; ++i) {
      for (int j = 0; j < 3; ++j) k[i] += s[i][j] * f[j];
    }
    const double v = std::max(0.0, k[0] * f[0] + k[1] * f[1] + k[2] * f[2]);
    const double information = h * p * (1 - p);
    const double g = 1 / (1 + information * v);
    double* const coefficients[] = {&a, &b, &c};
    for (int i = 0; i < 3; ++i) *coefficients[i] += h * k[i] * (right - p) * g;
    const double first[3] = {0.1, 0.5, 0.1};
    for (int i = 0; i < 3; ++i) {
      for (int j = 0; j < 3; ++j) {
        s[i][j] = (1 - phi) * (s[i][j] - information * g * k[i] * k[j]) + (i == j ? phi * first[i] : 0);
      }
    }
  }
};

TEST(Calibrators, LearnAsBayesianLogisticRegressions) {
  Dice dice(7);
  CalibratorOfABlock block;
  std::vector<CalibratorTwin> twins(kLanes);
  for (int example = 0; example < 500; ++example) {
    Row z, y, right, nodes;
    for (std::size_t s = 0; s < kLanes; ++s) {
      z[s] = static_cast<float>(dice.between(-4, 4)) * (dice.chance(0.05) ? 20.0F : 1.0F);
      y[s] = z[s] * static_cast<float>(dice.between(0.2, 1.2));
      right[s] = dice.chance(logistic(0.7 * z[s])) ? 1.0F : 0.0F;
      nodes[s] = dice.chance(0.5) ? 1.0F : 0.0F;
    }
    const float importance = dice.chance(0.1) ? 0.25F : 3.0F;
    block.learn(z, y, right, nodes, importance);
    for (std::size_t s = 1; s < kLanes; ++s) {
      if (nodes[s] != 0) twins[s].learn(z[s], y[s], right[s], importance);
    }
  }
  for (std::size_t s = 1; s < kLanes; ++s) {
    const Calibrator& is = block.get();
    const CalibratorTwin& twin = twins[s];
    const double expected[] = {twin.a,       twin.b,       twin.c,       twin.s[0][0], twin.s[0][1],
                               twin.s[0][2], twin.s[1][1], twin.s[1][2], twin.s[2][2]};
    for (std::size_t number = 0; number < Calibrator::kNumbers; ++number) {
      EXPECT_NEAR(is.at(s, number), expected[number], 2e-3 * (1 + std::abs(expected[number]))) << s << ", " << number;
    }
  }
}

// Every leading minor of S is above 0.
void expect_positive_definite(const Calibrator& of, std::size_t s) {
  const double aa = of.at(s, Calibrator::kAA), ab = of.at(s, Calibrator::kAB), ac = of.at(s, Calibrator::kAC);
  const double bb = of.at(s, Calibrator::kBB), bc = of.at(s, Calibrator::kBC), cc = of.at(s, Calibrator::kCC);
  ASSERT_GT(aa, 0);
  ASSERT_GT(aa * bb - ab * ab, 0);
  ASSERT_GT(aa * (bb * cc - bc * bc) - ab * (ab * cc - bc * ac) + ac * (ab * bc - bb * ac), 0);
  // Forgetting keeps S within what it was at first.
  ASSERT_LE(aa, 0.1001);
  ASSERT_LE(bb, 0.5001);
  ASSERT_LE(cc, 0.1001);
}

// The fifteen lanes are as many kinds of streams, all hard on the covariance.
TEST(Calibrators, StayPositiveDefiniteOnHardStreams) {
  Dice dice(3);
  CalibratorOfABlock block;
  Row nodes;
  nodes.fill(1);
  for (int example = 0; example < 300'000; ++example) {
    Row z{}, y{}, right{};
    for (std::size_t s = 1; s < kLanes; ++s) {
      const float sizes[] = {0, 1e-6F, 1, 30, 1e9F};
      z[s] = sizes[s % 5] * (s < 6 || dice.chance(0.5) ? 1.0F : -1.0F);
      y[s] = s % 3 == 0 ? z[s] : s % 3 == 1 ? -z[s] : static_cast<float>(dice.between(-40, 40));
      right[s] = s % 2 == 0 || dice.chance(0.5) ? 1.0F : 0.0F;
    }
    block.learn(z, y, right, nodes, example % 7 == 0 ? 1e-3F : 1e12F);
    if (example % 1000 != 999) continue;
    for (std::size_t s = 1; s < kLanes; ++s) {
      SCOPED_TRACE(testing::Message() << "lane " << s << " after " << example);
      expect_positive_definite(block.get(), s);
      for (const auto number : {Calibrator::kA, Calibrator::kB, Calibrator::kC}) {
        ASSERT_TRUE(std::isfinite(block.get().at(s, number)));
      }
    }
  }
}

TEST(ScaledValues, AreThoseOfTheFormula) {
  Dice dice(11);
  for (std::size_t features = 1; features <= 40; ++features) {
    std::vector<float> values(features);
    std::vector<Rarity> rarities(features);
    double squares = 0;
    double rare_squares = 0;
    for (std::size_t f = 0; f < features; ++f) {
      values[f] = static_cast<float>(dice.between(-3, 3));
      rarities[f] = static_cast<Rarity>(f == 0 ? 0 : 1 + dice.below(255));
      if (f == 0) continue;
      const double x = values[f];
      const double r = rarities[f];
      squares += x * x;
      rare_squares += x * x * r * r;
    }
    std::vector<float> scaled(padded(features));
    scale_values(values, rarities, scaled.data());
    for (std::size_t f = 0; f < features; ++f) {
      const double r = rarities[f];
      const double d = f == 0 ? 1 : r * r * squares / rare_squares;
      EXPECT_NEAR(scaled[f], d * values[f], 1e-5 * (1 + std::abs(d * values[f])));
    }
  }
}

TEST(ScaledValues, AreTheValuesWhereAllAreZeroOrEquallyRare) {
  const std::vector<float> values{1, 0.25F, 3, -2};
  std::vector<float> scaled(kLanes);
  scale_values(values, std::vector<Rarity>{0, 8, 8, 8}, scaled.data());
  for (std::size_t f = 0; f < values.size(); ++f) EXPECT_EQ(scaled[f], values[f]);
  const std::vector<float> zeros{1, 0, 0};
  scale_values(zeros, std::vector<Rarity>{0, 5, 200}, scaled.data());
  for (std::size_t f = 0; f < zeros.size(); ++f) EXPECT_EQ(scaled[f], zeros[f]);
}

}  // namespace
}  // namespace cpt
