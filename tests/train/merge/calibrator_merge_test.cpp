// The merge of the replicas' calibrators: the rule, and that all ranks have what it says, however it is cut up.
#include "train/merge/calibrator_merge.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <map>

#include "comm/threads/threads.h"
#include "model/random_stream.h"
#include "model/weights/hadamard_code.h"

namespace cpt {
namespace {

using ::testing::Each;
using ::testing::SizeIs;

Calibrator random_calibrator(Dice& dice) {
  Calibrator calibrator = kFirstCalibrator;
  for (std::size_t lane = 1; lane < kLanes; ++lane) {
    for (std::size_t number = 0; number < Calibrator::kNumbers; ++number) {
      calibrator.at(lane, number) = static_cast<float>(dice.between(-2, 2));
    }
  }
  return calibrator;
}

std::vector<float> numbers_of(const Calibrator& calibrator) {
  return {calibrator.floats.begin(), calibrator.floats.end()};
}

TEST(MergeCalibrators, IsTheMeanByVisits) {
  Dice dice(1);
  CalibratorOfRank one{{}, random_calibrator(dice)};
  CalibratorOfRank other{{}, random_calibrator(dice)};
  one.visits[5] = 3;
  other.visits[5] = 1;
  const std::vector<const CalibratorOfRank*> ranks{&one, &other};
  const Calibrator merged = merge_calibrators(ranks);
  for (std::size_t number = 0; number < Calibrator::kNumbers; ++number) {
    EXPECT_FLOAT_EQ(merged.at(5, number),
                    0.75F * one.calibrator.at(5, number) + 0.25F * other.calibrator.at(5, number));
  }
}

TEST(MergeCalibrators, TakesANodeThatOneRankVisitedAsItIs) {
  Dice dice(2);
  CalibratorOfRank idle{{}, random_calibrator(dice)};
  CalibratorOfRank busy{{}, random_calibrator(dice)};
  busy.visits[7] = 1000000007;
  const std::vector<const CalibratorOfRank*> ranks{&idle, &busy};
  const Calibrator merged = merge_calibrators(ranks);
  for (std::size_t number = 0; number < Calibrator::kNumbers; ++number) {
    EXPECT_EQ(merged.at(7, number), busy.calibrator.at(7, number));
  }
}

TEST(MergeCalibrators, LeavesANodeThatNoRankVisited) {
  CalibratorOfRank one{{}, kFirstCalibrator};
  CalibratorOfRank other{{}, kFirstCalibrator};
  one.visits[3] = 2;
  other.calibrator.at(3, Calibrator::kB) = 5;
  const std::vector<const CalibratorOfRank*> ranks{&one, &other};
  EXPECT_EQ(numbers_of(merge_calibrators(ranks)), numbers_of(kFirstCalibrator));
}

// What a rank does between two merges: visits of blocks, each of which changes the nodes above a position.
struct NodeVisit {
  std::uint64_t key;
  std::uint8_t position;
};

struct Rank {
  std::vector<NodeVisit> visits;
  std::uint64_t seed;
};

constexpr Partition kPartition = 3;

std::vector<Rank> random_ranks(std::uint64_t seed, std::size_t ranks) {
  Dice dice(seed);
  std::vector<Rank> all(ranks);
  for (Rank& rank : all) {
    rank.seed = dice.below(1000000);
    const std::size_t visits = dice.below(300);
    for (std::size_t i = 0; i < visits; ++i) {
      rank.visits.push_back({2 * mix(dice.below(50)) + 1, static_cast<std::uint8_t>(2 + dice.below(30))});
    }
  }
  return all;
}

ModelOptions least_options() {
  ModelOptions options;
  options.bits = kLeastBits;
  return options;
}

// Learns as the ranks do; numbers are drawn instead of learned. The calibrators and visits of each block.
std::map<std::uint64_t, CalibratorOfRank> learn(const Rank& rank, const std::map<std::uint64_t, Calibrator>& before) {
  std::map<std::uint64_t, CalibratorOfRank> now;
  Dice dice(rank.seed);
  for (const NodeVisit& visit : rank.visits) {
    const auto known = before.find(visit.key);
    CalibratorOfRank& its =
        now.try_emplace(visit.key, CalibratorOfRank{{}, known == before.end() ? kFirstCalibrator : known->second})
            .first->second;
    for (std::size_t node = visit.position / 2; node > 0; node /= 2) {
      ++its.visits[node];
      its.calibrator.at(node, Calibrator::kA) = static_cast<float>(dice.between(0, 2));
    }
  }
  return now;
}

using NumbersByKey = std::map<std::uint64_t, std::vector<float>>;

// Two intervals as the rule says.
NumbersByKey merge_literally(const std::vector<std::vector<Rank>>& intervals) {
  std::map<std::uint64_t, Calibrator> merged;
  for (const std::vector<Rank>& ranks : intervals) {
    std::map<std::uint64_t, std::vector<CalibratorOfRank>> by_key;
    for (const Rank& rank : ranks) {
      for (const auto& [key, its] : learn(rank, merged)) by_key[key].push_back(its);
    }
    for (const auto& [key, of_ranks] : by_key) {
      std::vector<const CalibratorOfRank*> pointers;
      for (const CalibratorOfRank& its : of_ranks) pointers.push_back(&its);
      merged[key] = merge_calibrators(pointers);
    }
  }
  NumbersByKey numbers;
  for (const auto& [key, calibrator] : merged) numbers[key] = numbers_of(calibrator);
  return numbers;
}

// The same by a CalibratorMerger on each of the ranks, which are threads. What each has in the end.
std::vector<NumbersByKey> merge_really(const std::vector<std::vector<Rank>>& intervals, std::uint64_t segment_bytes) {
  const std::size_t ranks = intervals.front().size();
  std::vector<NumbersByKey> results(ranks);
  run_threads(static_cast<int>(ranks), [&](Communicator& comm) {
    Learner learner(least_options());
    Calibrators& calibrators = learner.weights().calibrators();
    CalibratorMerger merger(comm, learner, segment_bytes);
    const auto rank = static_cast<std::size_t>(comm.rank());
    for (const std::vector<Rank>& interval : intervals) {
      std::map<std::uint64_t, Calibrator> before;
      for (const std::uint64_t key : calibrators.keys(kPartition)) before[key] = *calibrators.find(key);
      PathState path_state;
      for (const NodeVisit& visit : interval[rank].visits) {
        path_state.calibrations = {{visit.key, kPartition, nullptr}};
        path_state.targets = {&targets_at(2, visit.position, false)};
        merger.touch(path_state);
      }
      for (const auto& [key, its] : learn(interval[rank], before)) calibrators.add(kPartition, key) = its.calibrator;
      merger.merge();
    }
    for (const std::uint64_t key : calibrators.keys(kPartition)) {
      results[rank][key] = numbers_of(*calibrators.find(key));
    }
  });
  return results;
}

class CalibratorMerge : public ::testing::TestWithParam<std::size_t> {};
INSTANTIATE_TEST_SUITE_P(Ranks, CalibratorMerge, ::testing::Values(1, 2, 3, 5),
                         [](const auto& test) { return "On" + std::to_string(test.param); });

TEST_P(CalibratorMerge, GivesAllRanksWhatTheRuleSays) {
  const std::vector<std::vector<Rank>> intervals{random_ranks(10, GetParam()), random_ranks(11, GetParam())};
  const NumbersByKey expected = merge_literally(intervals);
  EXPECT_THAT(expected, SizeIs(::testing::Gt(20)));
  EXPECT_THAT(merge_really(intervals, CalibratorMerger::kSegmentBytes), Each(expected));
}

TEST_P(CalibratorMerge, IsTheSameInAnyNumberOfSegments) {
  const std::vector<std::vector<Rank>> intervals{random_ranks(20, GetParam()), random_ranks(21, GetParam())};
  EXPECT_THAT(merge_really(intervals, 4000), Each(merge_literally(intervals)));
}

}  // namespace
}  // namespace cpt
