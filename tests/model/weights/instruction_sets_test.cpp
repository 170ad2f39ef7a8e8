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
std::string results(std::size_t features, std::size_t blocks, Loss loss, Update update) {
  KernelInputs in(features, blocks, 7 * features + blocks);
  if (features > 2) in.repeat_row(0, 2);
  Row trained{};
  Row right{};
  for (std::size_t s = 1; s < kLanes; s += 2) trained[s] = 1;
  for (std::size_t s = 1; s < kLanes; s += 3) right[s] = 1;
  const LaneTargets targets = targets_of(trained, right);
  const std::vector<const LaneTargets*> every(blocks, &targets);
  const std::vector<std::uint32_t> occupied(blocks, 0xf3d7'15b4U);

  std::vector<Row> p(blocks);
  std::string bytes;
  for (int round = 0; round < 3; ++round) {
    predict_blocks(in.path(), loss, p.data());
    for (const Row& row : p) append(bytes, row);
    for (const int arity : {4, 8, 16}) {
      std::vector<Row> sides = p;
      decode_columns(occupied.data(), blocks, arity, sides.data());
      for (const Row& row : sides) append(bytes, row);
    }
    train_blocks(in.path(), {p.data(), every.data(), 0.37F, update, 0.7F});
    for (std::size_t i = 0; i < features * blocks; ++i) {
      bytes.append(reinterpret_cast<const char*>(in.table(i)), sizeof(Row));
    }
  }
  return bytes;
}

class InstructionSets : public testing::TestWithParam<std::tuple<Loss, Update>> {};

TEST_P(InstructionSets, GiveTheSameBytes) {
  const auto [loss, update] = GetParam();
  std::vector<std::size_t> counts{33, 70};
  for (std::size_t features = 1; features <= 17; ++features) counts.push_back(features);
  for (std::size_t features : counts) {
    for (std::size_t blocks : {1U, 2U, 3U, 4U, 5U, 6U, 7U, 8U, 9U, 13U}) {
      const std::string best = results(features, blocks, loss, update);
      for (std::int64_t target : targets()) {
        const OnlyTarget only(target);
        ASSERT_EQ(results(features, blocks, loss, update) == best, true)
            << kernel_target() << ", " << features << " features, " << blocks << " blocks";
      }
    }
  }
}

INSTANTIATE_TEST_SUITE_P(LossesAndUpdates, InstructionSets,
                         testing::Combine(testing::Values(Loss::kLogistic, Loss::kSquared),
                                          testing::Values(Update::kAdaptive, Update::kSgd)));

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
  const PathRows blocks{rows.data(), &one, 1, rows.size()};
  for (Loss loss : {Loss::kLogistic, Loss::kSquared}) {
    std::vector<Row> best(z.size());
    predict_blocks(blocks, loss, best.data());
    for (std::int64_t target : targets()) {
      const OnlyTarget only(target);
      std::vector<Row> p(z.size());
      predict_blocks(blocks, loss, p.data());
      EXPECT_EQ(std::memcmp(p.data(), best.data(), p.size() * sizeof(Row)), 0) << kernel_target();
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
