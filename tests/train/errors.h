// The fixture of tests of errors: a job of three ranks in either placement, of which one will fail.
#pragma once

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fstream>

#include "comm/interposed.h"
#include "data/shards/shards.h"
#include "train/job.h"

namespace cpt {

inline constexpr int kRanks = 3;

class Errors : public ::testing::TestWithParam<Placement> {
 protected:
  Errors() {
    options_.placement = GetParam();
    // One shard each, of about the same size.
    for (std::uint64_t seed = 1; seed <= kRanks; ++seed) {
      options_.data.push_back(
          folder_.write("shard" + std::to_string(seed), random_lines({.seed = seed, .examples = 200})));
    }
  }

  void append(std::size_t shard, const std::string& lines) {
    std::ofstream(options_.data[shard], std::ios::app) << lines;
  }

  // "rank 2 on " for the rank that reads the shard.
  std::string reader_of(std::size_t shard) const {
    const auto assigned = assign_shards(find_shards(options_.data), kRanks);
    for (std::size_t rank = 0; rank < kRanks; ++rank) {
      for (const std::uint32_t mine : assigned[rank]) {
        if (mine == shard) return "rank " + std::to_string(rank) + " on ";
      }
    }
    return "nobody";
  }

  // The error of all ranks, which must be the same AgreedError.
  std::string agreed_error(Fault fault, const Staging& staging = {}) const {
    const std::vector<Ending> endings = train_on(kRanks, options_, staging);
    for (const Ending& ending : endings) {
      EXPECT_TRUE(ending.agreed) << ending.error;
      EXPECT_EQ(ending.fault, fault);
      EXPECT_EQ(ending.error, endings[0].error);
    }
    return endings[0].error;
  }

  Folder folder_;
  TrainingOptions options_ = small_job();
};

}  // namespace cpt
