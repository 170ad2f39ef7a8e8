// The kernel that predicts and trains at once.
#include <gtest/gtest.h>

#include <cstring>
#include <vector>

#include "model/random_stream.h"
#include "model/weights/kernel_inputs.h"

namespace cpt {
namespace {

// Its twins are predict_path() and train_blocks().
TEST(LearnPath, PredictsAndTrainsToTheLastBit) {
  Dice dice(6);
  for (const std::size_t features : {1U, 7U, 16U, 130U}) {
    for (std::size_t blocks = 1; blocks <= 10; ++blocks) {
      KernelInputs in(features, blocks, blocks);
      KernelInputs twin(features, blocks, blocks);
      std::vector<Calibrator> calibrators;
      std::vector<LaneTargets> targets;
      for (std::size_t b = 0; b < blocks; ++b) {
        calibrators.push_back(random_calibrator(dice));
        Row trained, right, nodes;
        for (float& lane : trained) lane = dice.chance(0.3) ? 1.0F : 0.0F;
        for (float& lane : right) lane = dice.chance(0.5) ? 1.0F : 0.0F;
        for (std::size_t s = 0; s < kLanes; ++s) nodes[s] = dice.chance(0.8) ? trained[s] : 0.0F;
        targets.push_back(targets_of(trained, right, nodes));
      }
      std::vector<Calibrator> of_twin = calibrators;
      std::vector<Calibrator*> learning, twin_learning;
      for (std::size_t b = 0; b < blocks; ++b) {
        learning.push_back(&calibrators[b]);
        twin_learning.push_back(&of_twin[b]);
      }
      const std::vector<const Calibrator*> predicting(twin_learning.begin(), twin_learning.end());
      std::vector<const LaneTargets*> of_blocks;
      for (const LaneTargets& of_block : targets) of_blocks.push_back(&of_block);
      std::vector<Estimate> estimates(blocks), twin_estimates(blocks);
      std::vector<AlignedRow> scratch(scratch_floats(features) / kLanes);
      UpdateStep step{.estimates = estimates.data(),
                      .targets = of_blocks.data(),
                      .calibrators = learning.data(),
                      .scratch = scratch.data()->lanes.data(),
                      .squared_length = 1,
                      .importance = 2,
                      .loss = Loss::kLogistic,
                      .update = Update::kSafe,
                      .rate = 0.8F};
      PathRows path = in.path();
      std::vector<float*> later(features, in.table(0));
      RowsAhead ahead{later.data(), later.size()};
      path.ahead = &ahead;
      learn_path(path, step);
      EXPECT_EQ(ahead.prefetched, features);
      predict_path(twin.path(), of_blocks.data(), predicting.data(), twin_estimates.data());
      step.estimates = twin_estimates.data();
      step.calibrators = twin_learning.data();
      train_blocks(twin.path(), step);
      for (std::size_t b = 0; b < blocks; ++b) {
        for (std::size_t s = 1; s < kLanes; ++s) {
          if (!is_trained(targets[b], s) || targets[b].nodes[targets[b].index_of_lane[s]] == 0) continue;
          EXPECT_EQ(estimates[b].right[s], twin_estimates[b].right[s]) << "lane " << s;
        }
        EXPECT_EQ(calibrators[b].floats, of_twin[b].floats);
      }
      for (std::size_t i = 0; i < features * blocks; ++i) {
        ASSERT_EQ(std::memcmp(in.table(i), twin.table(i), sizeof(Row)), 0) << "row " << i;
      }
    }
  }
}

}  // namespace
}  // namespace cpt
