// The changes that rank 0 sends make the trees of all ranks equal; a rank whose tree differs says so.
#include "train/partitioned/tree_replicator.h"

#include <gtest/gtest.h>

#include <string>
#include <utility>
#include <vector>

#include "comm/threads/threads.h"
#include "core/number_text.h"
#include "train/job.h"
#include "train/placement/ownership.h"

namespace cpt {
namespace {

const std::vector<TreeChange> kCatAndDog = {{"cat", {kNoLabel}, 0}, {"dog", {0}, 0}};
const std::vector<TreeChange> kCow = {{"cow", {1}, 3}};

struct Rank {
  explicit Rank(Communicator& comm)
      : owner(learner, first_owners(comm.size(), 1), comm.rank()), replicator(comm, learner, owner) {}

  void grow(const std::vector<TreeChange>& changes) {
    for (const TreeChange& change : changes) learner.apply(change);
  }

  Learner learner{{.bits = kLeastBits}};
  PartitionOwner owner;
  TreeReplicator replicator;
};

class TreeReplicatorTest : public ::testing::Test {
 protected:
  // What rank 0 sends after these changes of its tree.
  Buffer grow_and_append(const std::vector<TreeChange>& changes) {
    first_.grow(changes);
    std::vector<Buffer> messages(1);
    first_.replicator.append_changes(changes, messages);
    return std::move(messages[0]);
  }
  void apply(const Buffer& message) {
    first_.replicator.apply_changes(message.bytes());
    second_.replicator.apply_changes(message.bytes());
  }

  ThreadGroup ranks_{2};
  Rank first_{ranks_.at(0)};
  Rank second_{ranks_.at(1)};
};

TEST_F(TreeReplicatorTest, MakesTreesTheSame) {
  for (const auto& changes : {kCatAndDog, {}, kCow}) {
    apply(grow_and_append(changes));
    EXPECT_EQ(second_.learner.structure_digest(), first_.learner.structure_digest());
  }
  EXPECT_EQ(second_.learner.tree().labels(), 3U);
}

// Rank 0 may have more labels than it has sent.
TEST_F(TreeReplicatorTest, CountsTheLabelsThatAllRanksHave) {
  const Buffer message = grow_and_append(kCatAndDog);
  EXPECT_EQ(first_.replicator.shared_labels(), 0U);
  first_.grow(kCow);
  apply(message);
  EXPECT_EQ(first_.replicator.shared_labels(), 2U);
  EXPECT_EQ(second_.replicator.shared_labels(), 2U);
}

TEST_F(TreeReplicatorTest, SaysWhereATreeIsNotThatOfRankZero) {
  second_.grow({{"fox", {kNoLabel}, 0}});
  first_.grow({{"cat", {kNoLabel}, 0}});
  const Thrown thrown = thrown_by([&] { apply(grow_and_append({{"dog", {0}, 0}})); });
  EXPECT_EQ(thrown.fault, Fault::kFailed);
  EXPECT_EQ(thrown.text, "this tree is not that of rank 0: its digest is " +
                             digest_text(second_.learner.growth_digest()) + ", that one's " +
                             digest_text(first_.learner.growth_digest()));
}

TEST(TreeReplicatorDrain, AppliesAllChanges) {
  std::vector<std::uint64_t> digests(3);
  run_threads(3, [&](Communicator& comm) {
    Rank rank(comm);
    if (comm.rank() == 0) rank.grow(kCatAndDog);
    rank.replicator.drain(comm.rank() == 0 ? kCatAndDog : std::vector<TreeChange>{});
    EXPECT_EQ(rank.replicator.shared_labels(), 2U);
    digests[static_cast<std::size_t>(comm.rank())] = rank.learner.structure_digest();
  });
  EXPECT_EQ(digests[1], digests[0]);
  EXPECT_EQ(digests[2], digests[0]);
}

TEST(TreeReplicatorDrain, EndsAllRanksWhereOneHasAnotherTree) {
  const Thrown thrown = thrown_by_all(3, [&](Communicator& comm) {
    Rank rank(comm);
    if (comm.rank() != 1) rank.grow({{"cat", {kNoLabel}, 0}});
    rank.replicator.drain({});
  });
  EXPECT_EQ(thrown.fault, Fault::kFailed);
}

}  // namespace
}  // namespace cpt
