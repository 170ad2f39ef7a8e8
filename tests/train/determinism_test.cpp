// The same data, options, seed and number of ranks give the same bytes, however the ranks are delayed.
#include <gtest/gtest.h>

#include <thread>

#include "comm/interposed.h"
#include "comm/threads/threads.h"
#include "model/random_stream.h"
#include "train/job.h"

namespace cpt {
namespace {

struct JobOutcome {
  Digests digests;  // of the part that rank 0 has
  std::uint64_t all_weights;
  std::vector<int> owners;
  Losses train;
  Losses test;
  std::uint64_t rounds;
  std::uint64_t sync_points;
  std::uint64_t bytes_sent;
};

void expect_same(const JobOutcome& a, const JobOutcome& b) {
  EXPECT_EQ(a.digests, b.digests);
  EXPECT_EQ(a.all_weights, b.all_weights);
  EXPECT_EQ(a.owners, b.owners);
  expect_same_losses(a.train, b.train);
  expect_same_losses(a.test, b.test);
  EXPECT_EQ(a.rounds, b.rounds);
  EXPECT_EQ(a.sync_points, b.sync_points);
  EXPECT_EQ(a.bytes_sent, b.bytes_sent);
}

class Determinism : public ::testing::TestWithParam<std::tuple<Placement, int>> {
 protected:
  Determinism() {
    options_.placement = std::get<0>(GetParam());
    options_.passes = 2;
    for (std::uint64_t seed = 1; seed <= 5; ++seed) {
      options_.data.push_back(
          folder_.write("shard" + std::to_string(seed), random_lines({.seed = seed, .examples = 120 * seed})));
    }
    options_.test.push_back(folder_.write("test", random_lines({.seed = 8, .examples = 90, .first_label = 20})));
  }

  int ranks() const { return std::get<1>(GetParam()); }

  JobOutcome run(const Staging& staging = {}) const {
    const std::vector<TrainingResult> results = results_on(ranks(), options_, staging);
    const Summary& summary = results[0].summary;
    return {digests_of(results[0].model),
            summary.weight_digest,
            results[0].model.owners(),
            summary.train,
            summary.test,
            summary.rounds,
            summary.sync_points,
            summary.bytes_sent};
  }

  Folder folder_;
  TrainingOptions options_ = small_job();
};
INSTANTIATE_TEST_SUITE_P(
    , Determinism,
    ::testing::Combine(::testing::Values(Placement::kPartitioned, Placement::kReplicated, Placement::kHybrid),
                       ::testing::Values(1, 2, 3, 5)),
    [](const auto& test) {
      return name_of_placement({std::get<0>(test.param), 0}) + "On" + std::to_string(std::get<1>(test.param));
    });

TEST_P(Determinism, SameBytesAgain) { expect_same(run(), run()); }

TEST_P(Determinism, EverythingSentIsToldByWhatItWasFor) {
  run_threads(ranks(), [this](Communicator& comm) {
    Recorder recorder;
    Training(options_, comm).run(recorder);
    std::uint64_t told = 0;
    for (const auto& [call, part] : comm.traffic()) told += part.bytes;
    EXPECT_EQ(told, comm.bytes_sent());
  });
}

// One rank at every call, or all at calls of their own choice.
TEST_P(Determinism, SameBytesWhereverRanksAreDelayed) {
  const JobOutcome undisturbed = run();
  const auto run_delayed = [&](std::uint64_t seed, int slow) {
    Staging staging;
    staging.wrap = [&](Communicator& inner) {
      Dice dice(100 * seed + static_cast<std::uint64_t>(inner.rank()));
      return std::make_unique<Interposed>(inner, [&, dice, rank = inner.rank()](std::uint64_t) mutable {
        const std::uint64_t most = rank == slow ? 400 : slow < 0 && dice.chance(0.1) ? 5000 : 0;
        if (most > 0) std::this_thread::sleep_for(std::chrono::microseconds(dice.below(most)));
      });
    };
    return run(staging);
  };
  for (int slow = 0; slow < ranks(); ++slow) expect_same(undisturbed, run_delayed(0, slow));
  for (std::uint64_t seed = 1; seed <= 2; ++seed) expect_same(undisturbed, run_delayed(seed, -1));
}

TEST_P(Determinism, OtherBytesWithAnotherSeed) {
  for (const TreeKind tree : {TreeKind::kOnline, TreeKind::kRandom}) {
    options_.model.tree = tree;
    options_.model.seed = 1;
    const Digests one = run().digests;
    options_.model.seed = 2;
    const Digests other = run().digests;
    EXPECT_NE(one.weights, other.weights);
    if (tree == TreeKind::kRandom) {
      EXPECT_NE(one.structure, other.structure);
    }
  }
}

}  // namespace
}  // namespace cpt
