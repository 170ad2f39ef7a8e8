// What rank 0 tells of its tree makes the trees of the others the same; where it does not, they say so.
#include "train/partitioned/tree_replicator.h"

#include <gtest/gtest.h>

#include <string>
#include <utility>
#include <vector>

#include "comm/agreement.h"
#include "comm/threads/threads.h"
#include "core/number_text.h"
#include "train/job.h"
#include "train/placement/ownership.h"

namespace cpt {
namespace {

const std::vector<TreeChange> kFirst = {{"cat", kNoLabel, 0}, {"dog", 0, 0}};
const std::vector<TreeChange> kSecond = {{"cow", 1, 3}};

struct Rank {
  explicit Rank(Communicator& comm)
      : owner(learner, first_owners(comm.size()), comm.rank()), news(comm, learner, owner) {}

  void grow(const std::vector<TreeChange>& changes) {
    for (const TreeChange& change : changes) learner.apply(change);
  }

  Learner learner{{.bits = kLeastBits}};
  PartitionOwner owner;
  TreeReplicator news;
};

class News : public ::testing::Test {
 protected:
  // What rank 0 sends when its tree has grown so.
  Buffer grow_and_tell(const std::vector<TreeChange>& changes) {
    first_.grow(changes);
    std::vector<Buffer> messages(1);
    first_.news.tell(changes, messages);
    return std::move(messages[0]);
  }
  void hear(const Buffer& message) {
    first_.news.hear(message.bytes());
    second_.news.hear(message.bytes());
  }

  ThreadGroup ranks_{2};
  Rank first_{ranks_.at(0)};
  Rank second_{ranks_.at(1)};
};

TEST_F(News, MakeTreesTheSame) {
  for (const auto& changes : {kFirst, {}, kSecond}) {
    hear(grow_and_tell(changes));
    EXPECT_EQ(second_.learner.structure_digest(), first_.learner.structure_digest());
  }
  EXPECT_EQ(second_.learner.tree().labels(), 3U);
}

// Rank 0 may know of more labels than it has told of.
TEST_F(News, CountTheLabelsThatAllHaveHeardOf) {
  const Buffer message = grow_and_tell(kFirst);
  EXPECT_EQ(first_.news.labels_heard(), 0U);
  first_.grow(kSecond);
  hear(message);
  EXPECT_EQ(first_.news.labels_heard(), 2U);
  EXPECT_EQ(second_.news.labels_heard(), 2U);
}

TEST_F(News, SayWhereATreeIsNotThatOfRankZero) {
  second_.grow({{"fox", kNoLabel, 0}});
  first_.grow({{"cat", kNoLabel, 0}});
  const Thrown thrown = thrown_by([&] { hear(grow_and_tell({{"dog", 0, 0}})); });
  EXPECT_EQ(thrown.fault, Fault::kFailed);
  EXPECT_EQ(thrown.text, "this tree is not that of rank 0: its digest is " +
                             digest_text(second_.learner.growth_digest()) + ", that one's " +
                             digest_text(first_.learner.growth_digest()));
}

TEST(NewsAtRest, TellOfAllChanges) {
  std::vector<std::uint64_t> digests(3);
  run_threads(3, [&](Communicator& comm) {
    Rank rank(comm);
    if (comm.rank() == 0) rank.grow(kFirst);
    rank.news.drain(comm.rank() == 0 ? kFirst : std::vector<TreeChange>{});
    EXPECT_EQ(rank.news.labels_heard(), 2U);
    digests[static_cast<std::size_t>(comm.rank())] = rank.learner.structure_digest();
  });
  EXPECT_EQ(digests[1], digests[0]);
  EXPECT_EQ(digests[2], digests[0]);
}

TEST(NewsAtRest, EndAllRanksWhereOneHasAnotherTree) {
  run_threads(3, [&](Communicator& comm) {
    Rank rank(comm);
    if (comm.rank() != 1) rank.grow({{"cat", kNoLabel, 0}});
    EXPECT_THROW(rank.news.drain({}), AgreedError);
  });
}

}  // namespace
}  // namespace cpt
