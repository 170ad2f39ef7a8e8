// C9: what an earlier build wrote can still be read. The files under v2/ to v8/ are never written again.
#include "golden/golden.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <xxhash.h>

#include <algorithm>
#include <cstring>
#include <fstream>
#include <iterator>
#include <map>
#include <string>

#include "api/checkpoint/checkpoint_reader.h"
#include "api/checkpoint/run_state_archive.h"
#include "store/blob/manifest.h"
#include "store/run/checkpoints.h"
#include "train/job.h"

namespace cpt {
namespace {

namespace fs = std::filesystem;
using ::testing::HasSubstr;

std::string content_of(const fs::path& file) {
  std::ifstream stream(file, std::ios::binary);
  return {std::istreambuf_iterator<char>(stream), {}};
}

// Works in a copy of the golden files.
class Golden : public ::testing::TestWithParam<const char*> {
 protected:
  Golden() {
    fs::copy(fs::path(CPT_GOLDEN_FILES) / GetParam(), folder_ / "copy", fs::copy_options::recursive);
    fs::current_path(folder_ / "copy");
  }
  ~Golden() override { fs::current_path(before_); }

  // The manifest of a later format, by its first 24 bytes (store/blob/format.md).
  static void set_format(const fs::path& directory, std::uint32_t version) {
    std::string manifest = content_of(directory / kManifestName);
    std::memcpy(manifest.data() + 16, &version, sizeof version);
    const std::uint64_t checksum = XXH3_64bits(manifest.data() + 16, manifest.size() - 16);
    std::memcpy(manifest.data() + 8, &checksum, sizeof checksum);
    std::ofstream(directory / kManifestName, std::ios::binary) << manifest;
  }

  static fs::path checkpoint_of(const golden::Run& run) {
    const std::vector<Checkpoint> checkpoints = Checkpoints(run.name).list();
    EXPECT_EQ(checkpoints.size(), 1U);
    return checkpoints.at(0).directory;
  }

  static void expect_to_end_as_recorded(const golden::Run& run, int ranks) {
    SCOPED_TRACE(std::string(run.name) + " on " + std::to_string(ranks));
    TrainingOptions options;
    options.checkpoints.directory = run.name;
    options.checkpoints.keep = 0;
    options.passes = golden::options_of(run).passes;
    options.resume = true;
    const Summary summary = results_on(ranks, options)[0].summary;
    EXPECT_EQ(golden::figures(summary), content_of(std::string(run.name) + ".txt"));
  }

 private:
  const fs::path before_ = fs::current_path();
  const Folder folder_;
};

INSTANTIATE_TEST_SUITE_P(Formats, Golden, ::testing::Values("v2", "v3", "v4", "v5", "v6", "v7", "v8"));

TEST_P(Golden, ModelPredictsWhatWasRecorded) {
  const std::string recorded = content_of(golden::kModelFigures);
  EXPECT_THAT(recorded, HasSubstr("example 2 label-39 0x1."));
  EXPECT_EQ(golden::figures(Model::load(golden::kModel)), recorded);
}

TEST_P(Golden, CheckpointsAreOfRunsThatWereCutOffInAShard) {
  for (const golden::Run& run : golden::kRuns) {
    const RunState state = read_run_state(checkpoint_of(run));
    EXPECT_EQ(state.options.placement, run.placement);
    ASSERT_TRUE(state.plan.shard_pass);
    EXPECT_EQ(state.options.split, 2U);
    ASSERT_EQ(state.plan.shard_pass->shards.size(), 6U);
    EXPECT_EQ(state.plan.data[1].shard.part, (FilePart{1, 2}));
    EXPECT_EQ(state.plan.shard_pass->pass, 2U);
    EXPECT_GT(state.progress.examples, state.plan.shard_pass->examples_before);
    EXPECT_EQ(state.plan.shard_pass->examples_before, 240U);
  }
}

// Formats before 7 hold Brier scores, as estimated then, whose mean must stay. Recorded from the sums as they were
// stored.
TEST_P(Golden, CheckpointsKeepTheirBrierScores) {
  const std::map<std::string, double> recorded = {{"v2", 0.74478983560796885}, {"v3", 0.52644801657886819},
                                                  {"v4", 0.52644801657886831}, {"v5", 0.52644801657886831},
                                                  {"v6", 0.52644801657886831}, {"v7", 0.65492062782775373},
                                                  {"v8", 0.65675656822044826}};
  const RunState state = read_run_state(checkpoint_of(golden::kRuns[0]));
  EXPECT_GT(state.progress.last_report.brier_samples, 0U);
  EXPECT_NEAR(state.progress.last_report.mean_brier_seen(), recorded.at(GetParam()), 1e-12);
}

TEST_P(Golden, CheckpointsEndAsWasRecorded) {
  const auto expect = [](const golden::Run& run) {
    const RunState state = read_run_state(checkpoint_of(run));
    EXPECT_EQ(state.ranks, run.ranks);
    EXPECT_FALSE(state.finished);
    EXPECT_GT(verify_checkpoint(checkpoint_of(run)), 0U);
    expect_to_end_as_recorded(run, run.ranks);
  };
  std::ranges::for_each(golden::kRuns, expect);
  std::ranges::for_each(golden::kMethodRuns, expect);
}

TEST_P(Golden, PartitionedCheckpointEndsTheSameOnAnyNumberOfRanks) {
  for (const int ranks : {1, 2, 5}) expect_to_end_as_recorded(golden::kRuns[0], ranks);
}

TEST_P(Golden, ModelsOfOtherMethodsPredictWhatWasRecorded) {
  for (const golden::Run& run : golden::kMethodRuns) {
    SCOPED_TRACE(run.name);
    const std::string recorded = content_of(golden::model_figures_of(run));
    EXPECT_THAT(recorded, HasSubstr("example 2 label-39 0x"));
    const Model model = Model::load(golden::model_of(run));
    EXPECT_EQ(model.options().method, run.method);
    EXPECT_EQ(model.options().arity, run.arity);
    EXPECT_EQ(golden::figures(model), recorded);
  }
}

class GoldenHybrid : public Golden {};
INSTANTIATE_TEST_SUITE_P(Formats, GoldenHybrid, ::testing::Values("v8"));

class GoldenTrees : public Golden {};
INSTANTIATE_TEST_SUITE_P(Formats, GoldenTrees, ::testing::Values("v3", "v4", "v5", "v6", "v7", "v8"));

TEST_P(GoldenTrees, PredictAndEndAsWasRecorded) {
  const golden::Run& run = golden::kTreesRun;
  const Model model = Model::load(golden::model_of(run));
  EXPECT_EQ(model.options().trees, run.trees);
  EXPECT_EQ(golden::figures(model), content_of(golden::model_figures_of(run)));
  EXPECT_GT(verify_checkpoint(checkpoint_of(run)), 0U);
  for (const int ranks : {1, 3, 4}) expect_to_end_as_recorded(run, ranks);
}

TEST_P(GoldenHybrid, CheckpointEndsAsWasRecorded) {
  const RunState state = read_run_state(checkpoint_of(golden::kHybridRun));
  EXPECT_EQ(state.options.placement, Placement::kHybrid);
  EXPECT_FALSE(state.finished);
  EXPECT_GT(verify_checkpoint(checkpoint_of(golden::kHybridRun)), 0U);
  expect_to_end_as_recorded(golden::kHybridRun, golden::kHybridRun.ranks);
}

// What is written now is under test, too.
TEST(GoldenFiles, HaveTheCurrentFormat) {
  EXPECT_TRUE(fs::exists(fs::path(CPT_GOLDEN_FILES) / ("v" + std::to_string(kStateFormat))));
}

// Formats before 7 have sums of Brier scores where other squares are now; their weights are by 16 examples.
TEST(EarlierFormats, KeepTheirBrierScores) {
  RunState state;
  Losses& losses = state.summary.train;
  losses.add_seen(2, 0.5);
  losses.add_seen(1, 0.25);
  losses.brier_weight = ExactSum(3);
  losses.other_squares = ExactSum(3 * 0.75);
  infer_other_squares(state);
  EXPECT_DOUBLE_EQ(losses.mean_brier_seen(), 0.75);
  const double others = 0.75 - losses.mean_squared_seen();
  losses.add_other_squares(16 * 3, 0.5);  // as many examples as before
  EXPECT_DOUBLE_EQ(losses.mean_brier_seen(), losses.mean_squared_seen() + (others + 0.5) / 2);
  EXPECT_EQ(state.summary.test.mean_brier_seen(), 0);
}

TEST_P(Golden, OfALaterFormatAreRefusedByName) {
  const std::string refusal = "was written by format version 2; this program reads up to 1";
  set_format(golden::kModel, kBlobSetFormat + 1);
  const Thrown model = thrown_by([] { Model::load(golden::kModel); });
  EXPECT_EQ(model.fault, Fault::kBadData);
  EXPECT_THAT(model.text, HasSubstr(std::string(golden::kModel) + "/MANIFEST: " + refusal));
  for (const golden::Run& run : golden::kRuns) {
    const fs::path checkpoint = checkpoint_of(run);
    set_format(checkpoint, kBlobSetFormat + 1);
    const Thrown state = thrown_by([&] { read_run_state(checkpoint); });
    EXPECT_EQ(state.fault, Fault::kBadData);
    EXPECT_THAT(state.text, HasSubstr(checkpoint.string() + "/MANIFEST: " + refusal));
  }
}

}  // namespace
}  // namespace cpt
