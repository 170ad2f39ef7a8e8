// The kernels give the same bytes on every instruction set that this machine has.
#include <gtest/gtest.h>

#include <cstring>
#include <set>
#include <string>
#include <vector>

#include "model/weights/hadamard_code.h"
#include "model/weights/kernel_inputs.h"
#include "model/weights/only_target.h"

namespace cpt {
namespace {

void append(std::string& bytes, const Row& row) { bytes.append(reinterpret_cast<const char*>(row.data()), sizeof row); }

// Everything that the kernels compute from one random example.
std::string results(std::size_t features, std::size_t blocks, Loss loss, Update update, bool calibrated) {
  KernelInputs in(features, blocks, 7 * features + blocks);
  if (features > 2) in.repeat_row(0, 2);
  Row trained{};
  Row right{};
  for (std::size_t s = 1; s < kLanes; s += 2) trained[s] = 1;
  for (std::size_t s = 1; s < kLanes; s += 3) right[s] = 1;
  Row nodes = trained;
  nodes[15] = 0;
  const LaneTargets targets = targets_of(trained, right, nodes);
  // Blocks of different numbers of trained lanes.
  std::vector<const LaneTargets*> every;
  for (std::size_t b = 0; b < blocks; ++b) every.push_back(b % 3 == 1 ? &targets_at(2, 23, false) : &targets);
  const std::vector<std::uint32_t> occupied(blocks, 0xf3d7'15b4U);

  std::vector<Calibrator> calibrators(blocks, kFirstCalibrator);
  std::vector<Calibrator*> learning;
  for (Calibrator& calibrator : calibrators) learning.push_back(&calibrator);
  const std::vector<const Calibrator*> predicting(learning.begin(), learning.end());
  std::vector<AlignedRow> scratch(scratch_floats(features) / kLanes);

  std::vector<Estimate> estimates(blocks);
  std::string bytes;
  for (int round = 0; round < 3; ++round) {
    predict_blocks(in.path(), loss, calibrated ? predicting.data() : nullptr, estimates.data());
    if (calibrated) {
      std::vector<Estimate> of_path(blocks);
      predict_path(in.path(), every.data(), predicting.data(), of_path.data());
      for (const Estimate& estimate : of_path) {
        append(bytes, estimate.margin);
        for (const std::size_t s : {1U, 5U, 11U})
          bytes.append(reinterpret_cast<const char*>(&estimate.right[s]), sizeof(float));
      }
    }
    std::vector<Row> p;
    for (const Estimate& estimate : estimates) {
      p.push_back(estimate.right);
      append(bytes, estimate.right);
      append(bytes, estimate.margin);
    }
    for (const int arity : {4, 8, 16}) {
      std::vector<Row> sides = p;
      decode_columns(occupied.data(), blocks, arity, sides.data());
      for (const Row& row : sides) append(bytes, row);
    }
    train_blocks(in.path(), {.estimates = estimates.data(),
                             .targets = every.data(),
                             .calibrators = calibrated ? learning.data() : nullptr,
                             .scratch = scratch.data()->lanes.data(),
                             .squared_length = 2.7,
                             .importance = round == 2 ? 30.0F : 0.8F,
                             .loss = loss,
                             .update = update,
                             .rate = 0.7F});
    if (calibrated && update == Update::kSafe) {
      learn_path(in.path(), {.estimates = estimates.data(),
                             .targets = every.data(),
                             .calibrators = learning.data(),
                             .scratch = scratch.data()->lanes.data(),
                             .squared_length = 2.7,
                             .importance = 0.5F,
                             .loss = loss,
                             .update = update,
                             .rate = 0.7F});
    }
    for (const Calibrator& calibrator : calibrators) {
      bytes.append(reinterpret_cast<const char*>(calibrator.floats.data()), sizeof calibrator.floats);
    }
    for (std::size_t i = 0; i < features * blocks; ++i) {
      bytes.append(reinterpret_cast<const char*>(in.table(i)), sizeof(Row));
    }
  }
  return bytes;
}

class InstructionSets : public testing::TestWithParam<std::tuple<Loss, Update, bool>> {};

TEST_P(InstructionSets, GiveTheSameBytes) {
  const auto [loss, update, calibrated] = GetParam();
  std::vector<std::size_t> counts{33, 70};
  for (std::size_t features = 1; features <= 17; ++features) counts.push_back(features);
  for (std::size_t features : counts) {
    for (std::size_t blocks : {1U, 2U, 3U, 4U, 5U, 6U, 7U, 8U, 9U, 13U}) {
      const std::string best = results(features, blocks, loss, update, calibrated);
      for (std::int64_t target : targets()) {
        const OnlyTarget only(target);
        ASSERT_EQ(results(features, blocks, loss, update, calibrated) == best, true)
            << kernel_target() << ", " << features << " features, " << blocks << " blocks";
      }
    }
  }
}

INSTANTIATE_TEST_SUITE_P(LossesAndUpdates, InstructionSets,
                         testing::Combine(testing::Values(Loss::kLogistic, Loss::kSquared),
                                          testing::Values(Update::kAdaptive, Update::kSgd, Update::kSafe),
                                          testing::Values(false)));
INSTANTIATE_TEST_SUITE_P(Calibrated, InstructionSets,
                         testing::Combine(testing::Values(Loss::kLogistic),
                                          testing::Values(Update::kAdaptive, Update::kSafe), testing::Values(true)));

TEST(InstructionSets, ScaleValuesToTheSameBytes) {
  Dice dice(5);
  std::vector<std::size_t> counts{255, 256, 257, 300};
  for (std::size_t features = 1; features <= 40; ++features) counts.push_back(features);
  for (const std::size_t features : counts) {
    std::vector<float> values(features);
    std::vector<Rarity> rarities(features);
    for (std::size_t f = 0; f < features; ++f) {
      values[f] = static_cast<float>(dice.between(-3, 3));
      rarities[f] = static_cast<Rarity>(dice.below(256));
    }
    std::vector<float> best(padded(features));
    scale_values(values, rarities, best.data());
    for (std::int64_t target : targets()) {
      const OnlyTarget only(target);
      std::vector<float> scaled(best.size());
      scale_values(values, rarities, scaled.data());
      EXPECT_EQ(std::memcmp(scaled.data(), best.data(), features * sizeof(float)), 0) << kernel_target();
    }
  }
}

TEST(InstructionSets, ExtremeMarginsGiveTheSameBytes) {
  std::vector<AlignedRow> z(2000);
  std::vector<float*> rows;
  Dice dice(3);
  for (AlignedRow& row : z) {
    for (float& lane : row.lanes) {
      const float sizes[] = {1e-38F, 1e-6F, 1.0F, 20.0F, 90.0F, 1e6F, 1e30F};
      lane = static_cast<float>(dice.between(-1, 1)) * sizes[dice.below(7)];
    }
    rows.push_back(row.lanes.data());
  }
  const float one = 1;
  const PathRows blocks{rows.data(), &one, &one, 1, rows.size()};
  for (Loss loss : {Loss::kLogistic, Loss::kSquared}) {
    std::vector<Estimate> best(z.size());
    predict_blocks(blocks, loss, nullptr, best.data());
    for (std::int64_t target : targets()) {
      const OnlyTarget only(target);
      std::vector<Estimate> p(z.size());
      predict_blocks(blocks, loss, nullptr, p.data());
      for (std::size_t i = 0; i < p.size(); ++i) {
        ASSERT_EQ(std::memcmp(&p[i].right, &best[i].right, sizeof(Row)), 0) << kernel_target();
      }
    }
  }
}

// Else the tests above compare one set with itself.
TEST(InstructionSets, AreReallySwitched) {
  std::set<std::string> names;
  for (std::int64_t target : targets()) {
    const OnlyTarget only(target);
    names.insert(kernel_target());
  }
  EXPECT_EQ(names.size(), targets().size());
}

}  // namespace
}  // namespace cpt
