// The sync interval merge against a dense one over whole tables, and what it notices.
#include "train/merge/weight_merge.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstring>
#include <limits>
#include <map>
#include <mutex>

#include "comm/on_machines.h"
#include "comm/threads/threads.h"
#include "model/random_stream.h"
#include "train/job.h"

namespace cpt {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;

constexpr int kBits = 14;
using Table = std::vector<Row>;

ModelOptions small_options() {
  ModelOptions options;
  options.bits = kBits;
  return options;
}

Row random_row(Dice& dice) {
  Row row;
  for (float& lane : row) lane = static_cast<float>(dice.between(-1, 1));
  row[0] = static_cast<float>(dice.between(0, 3));
  return row;
}

// A rank adds a change to a row.
struct RowVisit {
  std::uint64_t row;
  Row change;
};
using RowVisits = std::vector<RowVisit>;

// The same rows again and again, near one another and far apart, some of them visited by many ranks.
RowVisits random_visits(Dice& dice, std::size_t count) {
  RowVisits visits;
  for (std::size_t i = 0; i < count; ++i) {
    if (dice.chance(0.1)) {  // touched, but perhaps not changed
      visits.push_back({dice.below(40) * 411, Row{}});
      continue;
    }
    const std::size_t row = dice.chance(0.5) ? dice.below(40) * 411 : dice.below(std::size_t{1} << kBits);
    visits.push_back({row, random_row(dice)});
  }
  return visits;
}

void add_to_row(const Row& change, float* row) {
  for (std::size_t lane = 0; lane < kLanes; ++lane) row[lane] += change[lane];
}

void visit_row(const RowVisit& visit, Learner& learner, WeightMerger& merger) {
  float* row = learner.weights().row(visit.row);
  PathState path_state;
  path_state.rows = {row};
  merger.touch(path_state);
  add_to_row(visit.change, row);
}

Table table_of(const Learner& learner) {
  Table table(learner.weights().rows());
  std::memcpy(table.data(), learner.weights().row(0), learner.weights().bytes());
  return table;
}

// The same sync interval over whole tables.
Table merge_densely(MergeRule rule, const Table& before, const std::vector<RowVisits>& visits) {
  std::vector<std::map<std::uint64_t, Row>> now(visits.size());
  std::uint64_t updates = 0;
  double growth = 0;
  for (std::size_t r = 0; r < visits.size(); ++r) {
    double lane_0_before = 0;
    for (const RowVisit& visit : visits[r]) {
      const auto [at, is_first] = now[r].emplace(visit.row, before[visit.row]);
      if (is_first) lane_0_before += static_cast<double>(before[visit.row][0]);
      add_to_row(visit.change, at->second.data());
    }
    updates += visits[r].size();
    double lane_0 = 0;
    for (const auto& [index, row] : now[r]) lane_0 += static_cast<double>(row[0]);
    growth += lane_0 - lane_0_before;
  }
  const double unit = growth > 0 ? growth / static_cast<double>(updates) : 1;
  Table merged = before;
  for (std::uint64_t index = 0; index < merged.size(); ++index) {
    std::vector<RowOfRank> touched;
    for (const auto& rows : now) {
      const auto found = rows.find(index);
      if (found != rows.end() && found->second != before[index]) touched.push_back(&found->second);
    }
    if (!touched.empty())
      merged[index] = merge_row(rule, before[index], touched, static_cast<int>(visits.size()), unit);
  }
  return merged;
}

struct Shape {
  int ranks;
  MergeRule rule;
  std::uint64_t segment_bytes = WeightMerger::kSegmentBytes;
  int machines = 1;
};

// Starts all ranks from one random table, lets each make its visits sync interval by sync interval, and returns their
// tables.
std::vector<Table> merge_really(const Shape& shape, const Table& start,
                                const std::vector<std::vector<RowVisits>>& sync_points) {
  std::vector<Table> tables(static_cast<std::size_t>(shape.ranks));
  run_threads(shape.ranks, [&](Communicator& threads) {
    OnMachines comm(threads, shape.machines);
    const auto rank = static_cast<std::size_t>(comm.rank());
    Learner learner(small_options());
    std::memcpy(learner.weights().row(0), start.data(), learner.weights().bytes());
    WeightMerger merger(comm, learner, shape.rule, {learner.weights().whole()}, shape.segment_bytes);
    for (const std::vector<RowVisits>& interval : sync_points) {
      for (const RowVisit& visit : interval[rank]) visit_row(visit, learner, merger);
      merger.merge();
    }
    tables[rank] = table_of(learner);
  });
  return tables;
}

struct Scene {
  explicit Scene(int ranks, std::size_t most_visits = 600) {
    Dice dice(static_cast<std::uint64_t>(ranks));
    start.resize(std::size_t{1} << kBits);
    for (std::uint64_t i = 0; i < start.size(); i += 3) start[i] = random_row(dice);
    for (int interval = 0; interval < 3; ++interval) {
      auto& visits = sync_points.emplace_back();
      for (int r = 0; r < ranks; ++r) visits.push_back(random_visits(dice, dice.below(most_visits)));
    }
  }
  Table start;
  std::vector<std::vector<RowVisits>> sync_points;
};

class Merge : public ::testing::TestWithParam<int> {};
INSTANTIATE_TEST_SUITE_P(Ranks, Merge, ::testing::Values(1, 2, 3, 5));

TEST_P(Merge, IsADenseMergeOfWholeTables) {
  for (const MergeRule rule : {MergeRule::kAverage, MergeRule::kConfidence, MergeRule::kContraction}) {
    const Scene scene(GetParam());
    Table expected = scene.start;
    for (const auto& interval : scene.sync_points) expected = merge_densely(rule, expected, interval);
    for (const Table& table : merge_really({GetParam(), rule}, scene.start, scene.sync_points))
      EXPECT_EQ(table, expected);
  }
}

TEST_P(Merge, IsTheSameInAnySegments) {
  const Scene scene(GetParam());
  const std::vector<Table> whole = merge_really({GetParam(), MergeRule::kConfidence}, scene.start, scene.sync_points);
  for (const std::uint64_t segment_bytes : {std::uint64_t{20000}, std::uint64_t{5000}, std::uint64_t{72}}) {
    EXPECT_EQ(merge_really({GetParam(), MergeRule::kConfidence, segment_bytes}, scene.start, scene.sync_points), whole);
  }
}

TEST_P(Merge, IsTheSameOnAnyMachines) {
  const Scene scene(GetParam());
  const std::vector<Table> on_one = merge_really({GetParam(), MergeRule::kConfidence}, scene.start, scene.sync_points);
  for (const int machines : {0, 2, 3}) {
    const Shape shape{GetParam(), MergeRule::kConfidence, 20000, machines};
    EXPECT_EQ(merge_really(shape, scene.start, scene.sync_points), on_one);
  }
}

TEST_P(Merge, OfNothingChangesNothing) {
  const Scene scene(GetParam());
  const std::vector<RowVisits> idle(static_cast<std::size_t>(GetParam()));
  for (const Table& table : merge_really({GetParam(), MergeRule::kContraction}, scene.start, {idle, idle})) {
    EXPECT_EQ(table, scene.start);
  }
}

TEST(MergeTraffic, HasTheGrowthForContractionOnly) {
  for (const MergeRule rule : {MergeRule::kAverage, MergeRule::kConfidence, MergeRule::kContraction}) {
    run_threads(2, [&](Communicator& comm) {
      Learner learner(small_options());
      WeightMerger(comm, learner, rule, {learner.weights().whole()}).merge();
      EXPECT_EQ(comm.traffic().contains("merge: growth"), rule == MergeRule::kContraction);
      EXPECT_EQ(comm.traffic().contains("merge: updates"), rule == MergeRule::kContraction);
    });
  }
}

// What all of three ranks throw, prepared so.
std::string error_of(const std::function<void(int rank, Learner& learner, WeightMerger& merger)>& prepare) {
  return thrown_by_all(3,
                       [&](Communicator& comm) {
                         Learner learner(small_options());
                         WeightMerger merger(comm, learner, MergeRule::kConfidence, {learner.weights().whole()});
                         prepare(comm.rank(), learner, merger);
                         merger.merge();
                       })
      .text;
}

Row plain_change() {
  Row change;
  change.fill(0.5F);
  return change;
}

TEST(MergeNotices, NothingWhereAllIsWell) {
  EXPECT_EQ(error_of([](int, Learner& learner, WeightMerger& merger) {
              visit_row({100, plain_change()}, learner, merger);
            }),
            "");
}

TEST(MergeNotices, WeightsThatAreNotFinite) {
  for (const float bad : {std::numeric_limits<float>::infinity(), std::numeric_limits<float>::quiet_NaN()}) {
    for (const std::size_t lane : {0U, 7U}) {
      const std::string error = error_of([&](int rank, Learner& learner, WeightMerger& merger) {
        Row change = plain_change();
        if (rank == 1) change[lane] = bad;
        visit_row({100, change}, learner, merger);
      });
      EXPECT_THAT(error, AllOf(HasSubstr("rank"), HasSubstr("merged weights are not finite")));
    }
  }
}

TEST(MergeNotices, ARankWithAnotherTree) {
  const std::string error = error_of([&](int rank, Learner& learner, WeightMerger& merger) {
    learner.apply({"a", {kNoLabel}, 0});
    learner.apply({rank == 2 ? "c" : "b", {0}, 0});
    visit_row({100, plain_change()}, learner, merger);
  });
  EXPECT_THAT(error, AllOf(HasSubstr("rank 2 on "), HasSubstr(" has another tree than rank 0 on ")));
}

// A row that differs where the rank has not touched it: found when another rank trains it, whichever rank merges it.
TEST(MergeNotices, ARankWithAnotherWeight) {
  for (const int other : {0, 1, 2}) {
    for (const std::uint64_t row : {100U, 1100U, 2100U}) {
      const std::string error = error_of([&](int rank, Learner& learner, WeightMerger& merger) {
        if (rank == other) learner.weights().row(row)[3] = 1;
        visit_row({rank == (other + 1) % 3 ? row : 5000U, plain_change()}, learner, merger);
      });
      EXPECT_THAT(error, AllOf(HasSubstr("rank " + std::to_string(other) + " on "),
                               HasSubstr("weights that it did not train are not those of the last merge")));
    }
  }
}

// Even if all ranks deviate alike from what was merged last.
TEST(MergeNotices, RanksThatAllHaveAnotherWeight) {
  const std::string error = error_of([&](int rank, Learner& learner, WeightMerger& merger) {
    learner.weights().row(100)[3] = 1;
    if (rank == 0) visit_row({100, plain_change()}, learner, merger);
  });
  EXPECT_THAT(error, AllOf(HasSubstr("rank 1 on "), HasSubstr("weights that it did not train")));
}

}  // namespace
}  // namespace cpt
