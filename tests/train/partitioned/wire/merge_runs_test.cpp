// Sorted runs become one, as a stable sort would have it.
#include "train/partitioned/wire/merge_runs.h"

#include <gtest/gtest.h>

#include <cstdint>
#include <random>

namespace cpt {
namespace {

// Compared by key; the other number tells equal ones apart.
struct Item {
  std::uint32_t key;
  std::size_t number;
  bool operator<(const Item& other) const { return key < other.key; }
  bool operator==(const Item&) const = default;
};

struct Runs {
  std::vector<Item> items;
  std::vector<std::size_t> ends;
};

// Runs of these lengths; keys below `keys`, so that many are equal.
Runs random_runs(const std::vector<std::size_t>& lengths, std::uint32_t keys, unsigned seed) {
  std::mt19937 random(seed);
  Runs runs;
  for (const std::size_t length : lengths) {
    std::vector<std::uint32_t> run(length);
    for (std::uint32_t& key : run) key = static_cast<std::uint32_t>(random()) % keys;
    std::sort(run.begin(), run.end());
    for (const std::uint32_t key : run) runs.items.push_back({key, runs.items.size()});
    runs.ends.push_back(runs.items.size());
  }
  return runs;
}

void expect_stable_sort(const Runs& runs, std::vector<Item>& scratch) {
  std::vector<Item> sorted = runs.items;
  std::stable_sort(sorted.begin(), sorted.end());
  std::vector<Item> merged = runs.items;
  merge_runs(merged, runs.ends, scratch);
  EXPECT_EQ(merged, sorted);
}

TEST(MergeRuns, AreAStableSort) {
  std::vector<Item> scratch;
  for (std::size_t count = 1; count <= 17; ++count) {
    for (const std::uint32_t keys : {1U, 3U, 1000U}) {
      for (unsigned seed = 0; seed < 5; ++seed) {
        std::mt19937 random(seed);
        std::vector<std::size_t> lengths(count);
        for (std::size_t& length : lengths) length = random() % 9;  // some are empty
        SCOPED_TRACE(std::to_string(count) + " runs, seed " + std::to_string(seed));
        expect_stable_sort(random_runs(lengths, keys, seed), scratch);
      }
    }
  }
}

TEST(MergeRuns, OfUnevenLengths) {
  std::vector<Item> scratch;
  expect_stable_sort(random_runs({1000, 0, 1, 3, 500}, 50, 1), scratch);
  expect_stable_sort(random_runs({0, 0, 0, 7}, 50, 2), scratch);
  expect_stable_sort(random_runs({7, 0, 0, 0, 0}, 50, 3), scratch);
  expect_stable_sort(random_runs({0, 0, 0}, 50, 4), scratch);
}

TEST(MergeRuns, OfNothingOrOneRunAreLeftAlone) {
  std::vector<int> scratch;
  std::vector<int> none;
  merge_runs(none, {}, scratch);
  EXPECT_TRUE(none.empty());
  std::vector<int> unsorted{3, 1, 2};
  merge_runs(unsorted, {3}, scratch);
  EXPECT_EQ(unsorted, (std::vector<int>{3, 1, 2}));
}

}  // namespace
}  // namespace cpt
