// Jobs of the partitioned placement in tests: their results must be those of one rank.
#pragma once

#include <gtest/gtest.h>

#include <cstdint>
#include <string>
#include <vector>

#include "train/job.h"

namespace cpt {

using Shards = std::vector<std::string>;

// The results that must not depend on the number of ranks.
struct Outcome {
  std::uint64_t tree = 0;
  std::uint64_t weights = 0;
  std::uint64_t rows_used = 0;
  std::uint64_t disagreements = 0;
  std::uint64_t bad_lines = 0;
  Losses train;
  Losses test;
  std::vector<Report> reports;
};

// The outcome of a job in which no rank may fail. All ranks must agree on tree, weights and owners. `staging` has no
// observer.
Outcome outcome_on(int ranks, const TrainingOptions& options, Staging staging = {});

void expect_same(const Outcome& a, const Outcome& b);

// The numbers of ranks and machines: ranks of one machine read one another's examples in place.
struct Layout {
  int ranks;
  int machines;
};
void PrintTo(const Layout& layout, std::ostream* out);
std::string name_of_layout(const ::testing::TestParamInfo<Layout>& test);

// A job with a layout as its parameter.
class PartitionedJob : public ::testing::TestWithParam<Layout> {
 protected:
  PartitionedJob();

  static int ranks() { return GetParam().ranks; }
  // Puts the ranks on their machines.
  static Staging staging();

  void add_data(const Shards& shards);
  void set_test(const std::string& shard) { options_.test = {folder_.write("test", shard)}; }

  void expect_that_of_one_rank() const;

  Folder folder_;
  TrainingOptions options_;
};

}  // namespace cpt
