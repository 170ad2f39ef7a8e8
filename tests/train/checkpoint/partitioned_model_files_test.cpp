// A model whose weights are spread over ranks is saved as the same files as one that lies on a single rank.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <array>

#include "api/model_files.h"
#include "model/random_stream.h"
#include "store/file_size_limit.h"
#include "train/checkpoint/checkpoint_writer.h"
#include "train/files_in.h"
#include "train/small_model.h"

namespace cpt {
namespace {

namespace fs = std::filesystem;
using ::testing::AllOf;
using ::testing::HasSubstr;

std::ptrdiff_t entries_of(const Folder& folder) {
  const fs::directory_iterator all(folder / ".");
  return std::distance(begin(all), end(all));
}

std::vector<Owners> some_owners(int ranks) {
  Owners last(kPartitions, ranks - 1);
  last[kRootPartition] = 0;
  Owners in_turn(kPartitions);
  for (Partition p = 0; p < kPartitions; ++p) in_turn[p] = p % ranks;
  return {first_owners(ranks, 1), last, in_turn};
}

using Parts = std::vector<std::unique_ptr<Learner>>;  // by rank

// What all ranks throw if their model cannot be saved there.
Thrown refusal_of(const Parts& parts, const Owners& owners, const fs::path& directory) {
  return thrown_by_all(static_cast<int>(parts.size()), [&](Communicator& comm) {
    save_partitioned_learner(*parts[static_cast<std::size_t>(comm.rank())], comm, owners, directory);
  });
}

class PartitionedModelFiles : public ::testing::TestWithParam<int> {
 protected:
  PartitionedModelFiles() {
    // Enough labels that all three kinds of partition are used.
    const Model model = trained_model(random_lines({.examples = 3000, .labels = 600}), small_model());
    model.save(whole_);
    const WeightTable& weights = model.learner().weights();
    for (const Partition last : std::array<Partition, 3>{0, 16, 272}) {
      std::uint64_t used = 0;
      for (Partition p = last == 0 ? 0 : last == 16 ? 1 : 17; p <= last; ++p) used += weights.survey(p).used;
      EXPECT_GT(used, 30U);
    }
  }

  int ranks() const { return GetParam(); }
  fs::path folder() const { return whole_.parent_path(); }

  // What is left of the model on a rank that owns a part of it.
  std::unique_ptr<Learner> part(const Owners& owners, int rank) const {
    auto learner = load_learner(whole_);
    for (Partition p = 0; p < kPartitions; ++p) {
      if (owners[p] != rank) learner->weights().clear(p);
    }
    return learner;
  }

  void save_parts(const Owners& owners, const fs::path& directory) const {
    run_ranks(ranks(), [&](Communicator& comm) {
      save_partitioned_learner(*part(owners, comm.rank()), comm, owners, directory);
    });
  }

  Thrown refusal(const fs::path& directory) const {
    const Owners owners = first_owners(ranks(), 1);
    Parts parts;
    for (int rank = 0; rank < ranks(); ++rank) parts.push_back(part(owners, rank));
    return refusal_of(parts, owners, directory);
  }

  Folder folder_;
  fs::path whole_ = folder_ / "whole";
};
INSTANTIATE_TEST_SUITE_P(Ranks, PartitionedModelFiles, ::testing::Values(1, 2, 3, 8));

TEST_P(PartitionedModelFiles, AreThoseOfOneRank) {
  const Files expected = files_in(whole_);
  EXPECT_EQ(expected.size(), 5U);  // options, tree, features, weights, MANIFEST
  for (const Owners& owners : some_owners(ranks())) {
    save_parts(owners, folder_ / "parts");
    EXPECT_EQ(files_in(folder_ / "parts"), expected);
  }
}

TEST_P(PartitionedModelFiles, OfAModelThatHasLearnedNothingAreThoseOfOneRank) {
  Model(small_model()).save(whole_);
  save_parts(first_owners(ranks(), 1), folder_ / "parts");
  EXPECT_EQ(files_in(folder_ / "parts"), files_in(whole_));
}

TEST_P(PartitionedModelFiles, AreReadInParts) {
  const auto whole = load_learner(whole_);
  for (const Owners& owners : some_owners(ranks())) {
    for (int rank = 0; rank < ranks(); ++rank) {
      const auto mine = load_learner(whole_, [&](Partition p) { return owners[p] == rank; });
      EXPECT_EQ(mine->structure_digest(), whole->structure_digest());
      EXPECT_EQ(mine->disagreements(), whole->disagreements());
      for (Partition p = 0; p < kPartitions; ++p) {
        const WeightTable::Survey expected = whole->weights().survey(p);
        EXPECT_EQ(mine->weights().survey(p).used, owners[p] == rank ? expected.used : 0);
        EXPECT_EQ(mine->weights().survey(p).digest, owners[p] == rank ? expected.digest : 0);
      }
    }
  }
}

TEST_P(PartitionedModelFiles, AreCheckedEvenWhereTheyAreNotWanted) {
  flip_bit(whole_ / "weights", static_cast<std::streamoff>(fs::file_size(whole_ / "weights") / 2));
  const Thrown thrown = thrown_by([&] { load_learner(whole_, [](Partition) { return false; }); });
  EXPECT_EQ(thrown.fault, Fault::kBadData);
}

TEST_P(PartitionedModelFiles, ThatCannotBeBegunStopAllRanks) {
  folder_.write("file", "in the way");
  const Thrown thrown = refusal(folder_ / "file" / "model");
  EXPECT_EQ(thrown.fault, Fault::kCannotWrite);
  EXPECT_THAT(thrown.text, HasSubstr("mkdir failed: Not a directory"));
}

// The options and the tree fit, the weights do not.
TEST_P(PartitionedModelFiles, ThatFillTheDiskStopAllRanksAndLeaveTheOldOnes) {
  trained_model("old | x\n").save(folder_ / "model");
  const Files old = files_in(folder_ / "model");
  const auto tree_bytes = fs::file_size(whole_ / "tree");
  ASSERT_GT(fs::file_size(whole_ / "weights"), 2 * tree_bytes);
  {
    const FileSizeLimit limit(2 * tree_bytes);
    const Thrown thrown = refusal(folder_ / "model");
    EXPECT_EQ(thrown.fault, Fault::kCannotWrite);
    EXPECT_THAT(thrown.text, AllOf(HasSubstr("weights: write failed"), HasSubstr("File too large")));
  }
  EXPECT_EQ(files_in(folder_ / "model"), old);
  EXPECT_EQ(entries_of(folder_), 2);  // whole and model
}

// More weights than the writer holds back: the first of them meet a full disk while others are still to come.
TEST(LargePartitionedModelFiles, ThatFillTheDiskHalfwayStopAllRanks) {
  const Owners owners = some_owners(3).back();
  Dice dice(1);
  Parts parts;
  for (int rank = 0; rank < 3; ++rank) {
    WeightTable& weights = parts.emplace_back(std::make_unique<Learner>(small_model(18)))->weights();
    for (Partition p = 0; p < kPartitions; ++p) {
      if (owners[p] != rank) continue;
      const Region& region = weights.region(p);
      float* const lanes = weights.row(region.first);
      std::generate_n(lanes, region.rows * kLanes, [&] { return static_cast<float>(dice.between(0.5, 1)); });
    }
  }
  const Folder folder;
  const FileSizeLimit limit(std::uint64_t{6} << 20);
  const Thrown thrown = refusal_of(parts, owners, folder / "model");
  EXPECT_EQ(thrown.fault, Fault::kCannotWrite);
  EXPECT_THAT(thrown.text, AllOf(HasSubstr("rank 0 on "), HasSubstr("weights: write failed: File too large")));
  EXPECT_EQ(entries_of(folder), 0);
}

}  // namespace
}  // namespace cpt
