// Partitions that move lose nothing, and rank 0 sees each of them once, in order, from its owner.
#include "train/placement/partition_traffic.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cstring>
#include <limits>
#include <utility>

#include "api/blobs/weights_blob.h"
#include "comm/collectives.h"
#include "model/random_stream.h"
#include "train/job.h"
#include "train/placement/all_on.h"

namespace cpt {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::StartsWith;

constexpr int kBits = 14;

// Half of all rows are used, each with some lanes.
void fill(WeightTable& weights) {
  Dice dice(5);
  for (std::uint64_t i = 0; i < weights.rows(); ++i) {
    if (dice.chance(0.5)) continue;
    weights.row(i)[0] = static_cast<float>(dice.between(0.1, 3));
    for (std::size_t lane = 1; lane < kLanes; ++lane) {
      if (dice.chance(0.3)) weights.row(i)[lane] = static_cast<float>(dice.between(-1, 1));
    }
  }
}

// Partition p belongs to rank (p / stride + first) % ranks, the root to rank 0.
Owners dealt(int ranks, int stride, int first = 0) {
  Owners owners(kPartitions);
  for (Partition p = 0; p < kPartitions; ++p) owners[p] = (p / stride + first) % ranks;
  owners[kRootPartition] = 0;
  return owners;
}

// The whole table where nothing but what the rank owns is left.
void keep_partitioned(WeightTable& weights, const Owners& owners, int rank) {
  for (Partition p = 0; p < kPartitions; ++p) {
    if (owners[p] != rank) weights.clear(p);
  }
}

void expect_holds_what_it_owns(const WeightTable& weights, const WeightTable& whole, const Owners& owners, int rank) {
  for (Partition p = 0; p < kPartitions; ++p) {
    const Region& region = whole.region(p);
    for (std::uint64_t i = region.first; i < region.first + region.rows; ++i) {
      const bool same = std::memcmp(weights.row(i), whole.row(i), sizeof(Row)) == 0;
      ASSERT_EQ(owners[p] == rank ? same : !weights.used(i), true)
          << "rank " << rank << " partition " << p << " row " << i;
    }
  }
}

// The digest of the model that is spread over the ranks.
std::uint64_t digest_over_owners(Communicator& comm, const WeightTable& weights, const Owners& owners) {
  std::uint64_t digest = 0;
  for (Partition p = 0; p < kPartitions; ++p) {
    if (owners[p] == comm.rank()) digest += weights.survey(p).digest;
  }
  sum_in_rank_order(comm, {&digest, 1}, "test: digest");
  return digest;
}

class PartitionTraffic : public ::testing::TestWithParam<int> {
 protected:
  PartitionTraffic() { fill(whole_); }
  int ranks() const { return GetParam(); }

  WeightTable whole_{kBits};
};
INSTANTIATE_TEST_SUITE_P(Ranks, PartitionTraffic, ::testing::Values(1, 2, 3, 5, 8));

TEST_P(PartitionTraffic, MovesThereAndBackLoseNothing) {
  const Owners first = first_owners(ranks(), 1);
  const std::vector<Owners> stations = {first,
                                        dealt(ranks(), 1),
                                        dealt(ranks(), 7, 2),
                                        all_on(ranks() - 1),  // one takes all
                                        all_on(0),            // and gives all to another
                                        dealt(ranks(), 1, 1),
                                        dealt(ranks(), 1, 1),  // nothing moves
                                        first};
  run_ranks(ranks(), [&](Communicator& comm) {
    WeightTable mine(kBits);
    fill(mine);
    keep_partitioned(mine, first, comm.rank());
    for (std::size_t i = 1; i < stations.size(); ++i) {
      move_partitions(comm, mine, stations[i - 1], stations[i]);
      EXPECT_EQ(digest_over_owners(comm, mine, stations[i]), whole_.digest()) << "station " << i;
      expect_holds_what_it_owns(mine, whole_, stations[i], comm.rank());
    }
  });
}

// What lay in the new owner's rows is not the model's.
TEST_P(PartitionTraffic, WhatMovesReplacesWhatIsThere) {
  run_ranks(ranks(), [&](Communicator& comm) {
    WeightTable mine(kBits);
    for (std::uint64_t i = 0; i < mine.rows(); ++i) mine.row(i)[0] = mine.row(i)[9] = 77;
    const Owners from = all_on(0);
    const Owners to = all_on(ranks() - 1);
    if (comm.rank() == 0) std::memcpy(mine.row(0), whole_.row(0), whole_.bytes());
    move_partitions(comm, mine, from, to);
    EXPECT_EQ(digest_over_owners(comm, mine, to), whole_.digest());
  });
}

TEST_P(PartitionTraffic, NothingIsSentWhereNothingMoves) {
  run_ranks(ranks(), [&](Communicator& comm) {
    WeightTable mine(kBits);
    move_partitions(comm, mine, dealt(ranks(), 3), dealt(ranks(), 3));
    EXPECT_LE(comm.bytes_sent(), 2 * 8 * static_cast<std::uint64_t>(ranks() - 1));  // the agreement that all is well
  });
}

TEST_P(PartitionTraffic, IsGatheredInOrderFromTheOwners) {
  for (const Owners& owners : {first_owners(ranks(), 1), dealt(ranks(), 1), all_on(ranks() - 1), all_on(0)}) {
    run_ranks(ranks(), [&](Communicator& comm) {
      WeightTable mine(kBits);
      fill(mine);
      keep_partitioned(mine, owners, comm.rank());
      Partition next = 0;
      gather_partitions(comm, mine, owners, [&](Partition partition, std::span<const std::byte> packed) {
        EXPECT_EQ(partition, next++);
        const std::vector<std::byte> expected = pack_partition(whole_, partition);
        EXPECT_TRUE(std::equal(packed.begin(), packed.end(), expected.begin(), expected.end())) << partition;
      });
      EXPECT_EQ(next, comm.rank() == 0 ? kPartitions : 0);
      expect_holds_what_it_owns(mine, whole_, owners, comm.rank());
    });
  }
}

TEST_P(PartitionTraffic, AVisitThatThrowsIsTheLastAndAllRanksThrow) {
  for (const Partition failing : std::array<Partition, 3>{0, 100, kPartitions - 1}) {
    int visits = 0;
    const Thrown thrown = thrown_by_all(ranks(), [&](Communicator& comm) {
      WeightTable mine(kBits);
      gather_partitions(comm, mine, dealt(ranks(), 1), [&](Partition partition, std::span<const std::byte>) {
        ++visits;
        if (partition == failing) throw Error(Fault::kCannotWrite, "the disk is full");
      });
    });
    EXPECT_EQ(thrown.fault, Fault::kCannotWrite);
    EXPECT_THAT(thrown.text, HasSubstr("the disk is full"));
    EXPECT_EQ(visits, failing + 1);
  }
}

TEST(GatherPartitions, NoticesOwnersThatDiffer) {
  const Thrown thrown = thrown_by_all(3, [&](Communicator& comm) {
    WeightTable mine(kBits);
    Owners owners = all_on(1);
    if (comm.rank() == 1) owners[20] = 2;
    gather_partitions(comm, mine, owners, [](Partition, std::span<const std::byte>) {});
  });
  EXPECT_THAT(thrown.text, AllOf(StartsWith("rank 1 on "), HasSubstr("has other owners")));
}

TEST(PackedPartitions, AreOfFiniteWeights) {
  constexpr float kInfinity = std::numeric_limits<float>::infinity();
  WeightTable weights(kBits);
  fill(weights);
  float* row = weights.row(weights.region(3).first + weights.region(3).rows / 2);
  row[0] = 1;
  const std::vector<std::pair<std::size_t, float>> wrong = {
      {0, kInfinity}, {7, kInfinity}, {7, -kInfinity}, {15, std::numeric_limits<float>::quiet_NaN()}};
  for (const auto& [lane, value] : wrong) {
    const float before = std::exchange(row[lane], value);
    EXPECT_THROW(pack_partition(weights, 3), Error) << value << " in lane " << lane;
    EXPECT_NO_THROW(pack_partition(weights, 4));
    row[lane] = before;
  }
  EXPECT_NO_THROW(pack_partition(weights, 3));
}

TEST(PackedPartitions, OfAnyLengthButTheirOwnAreRefused) {
  WeightTable weights(kBits);
  fill(weights);
  const std::vector<std::byte> packed = pack_partition(weights, 30);
  WeightTable other(kBits);
  unpack_partition(packed, 30, other);
  EXPECT_EQ(other.survey().digest, weights.survey(30).digest);
  for (std::size_t length = 0; length < packed.size(); ++length) {
    EXPECT_THROW(unpack_partition(std::span(packed).first(length), 30, other), Error) << length;
  }
  std::vector<std::byte> longer = packed;
  longer.push_back({});
  EXPECT_THROW(unpack_partition(longer, 30, other), Error);
  EXPECT_THROW(unpack_partition(packed, 31, other), Error);
}

}  // namespace
}  // namespace cpt
