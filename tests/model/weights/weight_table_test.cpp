#include "model/weights/weight_table.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/resource.h>
#include <unistd.h>

#include <algorithm>
#include <cstring>
#include <fstream>
#include <limits>
#include <set>

#include "cpt/error.h"
#include "model/random_stream.h"

namespace cpt {
namespace {

class EveryBits : public testing::TestWithParam<int> {};
INSTANTIATE_TEST_SUITE_P(Bits, EveryBits, testing::Range(kLeastBits, kMostBits + 1));

TEST_P(EveryBits, RegionsCoverTheTableWithoutOverlap) {
  std::uint64_t next = 0;
  for (const Region& region : divide_table(GetParam())) {
    EXPECT_EQ(region.first, next);
    EXPECT_GT(region.rows, 0U);
    next += region.rows;
  }
  EXPECT_EQ(next, std::uint64_t{1} << GetParam());
}

TEST_P(EveryBits, EveryIndexLiesInItsRegion) {
  Dice dice(1);
  for (const Region& region : divide_table(GetParam())) {
    for (std::uint64_t feature : {std::uint64_t{0}, std::uint64_t{1}, ~std::uint64_t{0}, dice.bits(), dice.bits()}) {
      for (std::uint64_t key : {std::uint64_t{1}, ~std::uint64_t{0}, dice.bits() | 1, dice.bits() | 1}) {
        const std::uint64_t index = WeightTable::index(feature, key, region);
        ASSERT_GE(index, region.first);
        ASSERT_LT(index, region.first + region.rows);
      }
    }
  }
}

TEST(WeightTable, RefusesSizesOutOfRange) {
  for (int bits : {-1, 0, kLeastBits - 1, kMostBits + 1, 64}) {
    EXPECT_THROW(divide_table(bits), Error) << bits;
    EXPECT_THROW(WeightTable{bits}, Error) << bits;
  }
}

TEST(WeightTable, StartsAtZeroOnWholeCacheLines) {
  WeightTable table(kLeastBits);
  EXPECT_EQ(table.rows(), 1024U);
  EXPECT_EQ(table.bytes(), 65536U);
  EXPECT_EQ(table.survey().used, 0U);
  for (std::uint64_t i = 0; i < table.rows(); ++i) {
    EXPECT_EQ(reinterpret_cast<std::uintptr_t>(table.row(i)) % 64, 0U);
    EXPECT_TRUE(std::all_of(table.row(i), table.row(i) + kLanes, [](float lane) { return lane == 0; }));
  }
}

TEST(WeightTable, ARowIsUsedOnceItsSquaresAreAboveZero) {
  WeightTable table(kLeastBits);
  table.row(7)[0] = 1e-38F;
  EXPECT_TRUE(table.used(7));
  EXPECT_FALSE(table.used(8));
  table.row(1023)[0] = 3;
  EXPECT_EQ(table.survey().used, 2U);
}

TEST(WeightTable, ARowWhoseSquaresAreNoNumberIsUsedAndNotFinite) {
  WeightTable table(kLeastBits);
  table.row(7)[0] = std::numeric_limits<float>::quiet_NaN();
  EXPECT_TRUE(table.used(7));
  EXPECT_EQ(table.survey().used, 1U);
  EXPECT_FALSE(table.survey().finite);
}

TEST(WeightTable, TheDigestTellsEveryLaneAndEveryIndex) {
  std::set<std::uint64_t> digests;
  for (std::size_t lane = 1; lane < kLanes; ++lane) {
    for (std::uint64_t row : {0U, 1U, 512U, 1023U}) {
      WeightTable table(kLeastBits);
      table.row(row)[0] = 1;
      table.row(row)[lane] = 0.5F;
      EXPECT_TRUE(digests.insert(table.digest()).second) << "row " << row << " lane " << lane;
      table.row(row)[0] = 2;
      EXPECT_TRUE(digests.insert(table.digest()).second) << "row " << row << " lane " << lane;
    }
  }
}

TEST(WeightTable, EqualContentsHaveEqualDigests) {
  WeightTable one(kLeastBits);
  WeightTable other(kLeastBits);
  for (std::uint64_t i = 0; i < one.rows(); i += 3) one.row(i)[0] = static_cast<float>(i + 1);
  EXPECT_NE(one.digest(), other.digest());
  for (std::uint64_t i = 0; i < one.rows(); i += 3) other.row(i)[0] = static_cast<float>(i + 1);
  EXPECT_EQ(one.digest(), other.digest());
}

// Numbers the rows of a table: no two are alike, and none is zero anywhere.
void fill(WeightTable& table) {
  for (std::uint64_t i = 0; i < table.rows(); ++i) std::fill_n(table.row(i), kLanes, static_cast<float>(i + 1));
}

TEST(WeightTable, TheSurveyOfAPartitionIsOfItsRowsOnly) {
  for (Partition p = 0; p < kPartitions; ++p) {
    WeightTable table(12);
    const Region& region = table.region(p);
    const std::uint64_t last = region.first + region.rows - 1;
    table.row(region.first)[0] = 1;
    table.row(last)[0] = 2;
    table.row(last)[3] = std::numeric_limits<float>::infinity();
    const std::uint64_t digest =
        WeightTable::digest_of(table.row(region.first), region.first) + WeightTable::digest_of(table.row(last), last);
    for (Partition q = 0; q < kPartitions; ++q) {
      const WeightTable::Survey survey = table.survey(q);
      EXPECT_EQ(survey.used, p == q ? 2U : 0U);
      EXPECT_EQ(survey.digest, p == q ? digest : 0U);
      EXPECT_EQ(survey.finite, p != q);
    }
    EXPECT_EQ(table.survey().used, 2U);
    EXPECT_EQ(table.survey().digest, digest);
    EXPECT_FALSE(table.survey().finite);
  }
}

// Deep regions of 10 bits are parts of a page, of 15 bits a page and a half, of 16 bits three whole pages.
TEST(WeightTable, ClearingAPartitionTouchesNoOther) {
  for (const int bits : {10, 15, 16}) {
    WeightTable table(bits);
    fill(table);
    for (const Partition p : std::array<Partition, 7>{0, 1, 16, 17, 18, 100, 272}) {
      const Region& region = table.region(p);
      table.clear(p);
      for (std::uint64_t i = 0; i < table.rows(); ++i) {
        const bool mine = i >= region.first && i < region.first + region.rows;
        const float expected = mine ? 0.0F : static_cast<float>(i + 1);
        ASSERT_TRUE(std::all_of(table.row(i), table.row(i) + kLanes, [&](float w) { return w == expected; }))
            << "bits " << bits << " partition " << p << " row " << i;
      }
      for (std::uint64_t i = region.first; i < region.first + region.rows; ++i) {
        std::fill_n(table.row(i), kLanes, static_cast<float>(i + 1));  // it can be written again
      }
    }
  }
}

std::uint64_t resident_bytes() {
  std::uint64_t total = 0;
  std::uint64_t resident = 0;
  std::ifstream("/proc/self/statm") >> total >> resident;
  return resident * static_cast<std::uint64_t>(sysconf(_SC_PAGESIZE));
}

TEST(WeightTable, ClearedPartitionsGiveTheirMemoryBack) {
  WeightTable table(20);  // 64 MiB
  fill(table);
  const std::uint64_t full = resident_bytes();
  for (Partition p = 17; p < kPartitions; ++p) table.clear(p);  // three quarters
  EXPECT_LT(resident_bytes() + (std::uint64_t{40} << 20), full);
  EXPECT_EQ(table.survey().used, table.rows() / 4);
}

// It may be that of a model, which keeps its size, or of a program that does not choose it.
TEST(WeightTable, WithoutMemorySaysWhatHelpsNewOnesAndThoseThatAreThere) {
  rlimit before{};
  ::getrlimit(RLIMIT_AS, &before);
  const rlimit less{std::min(rlim_t{60} << 40, before.rlim_max), before.rlim_max};  // of 64 TiB
  ASSERT_EQ(::setrlimit(RLIMIT_AS, &less), 0);
  try {
    const WeightTable table(kMostBits);
    ADD_FAILURE() << "there was memory";
  } catch (const Error& error) {
    EXPECT_EQ(error.fault(), Fault::kFailed);
    EXPECT_THAT(error.what(), testing::EndsWith("; allow more memory, or use fewer --bits"));
  }
  ::setrlimit(RLIMIT_AS, &before);
}

// Features of one block, and one feature in many blocks, fall on rows as if thrown at random: with n balls in n rows
// a share of 1 - 1/e = 0.632 of the rows is hit.
TEST(WeightTable, IndicesSpreadEvenly) {
  const Region region{.first = 100, .rows = 4096};
  std::set<std::uint64_t> of_features;
  std::set<std::uint64_t> of_blocks;
  for (std::size_t i = 0; i < region.rows; ++i) {
    of_features.insert(WeightTable::index(feature_number(i), mix(77) | 1, region));
    of_blocks.insert(WeightTable::index(kConstantFeature, mix(i) | 1, region));
  }
  EXPECT_NEAR(static_cast<double>(of_features.size()) / 4096, 0.632, 0.03);
  EXPECT_NEAR(static_cast<double>(of_blocks.size()) / 4096, 0.632, 0.03);
}

}  // namespace
}  // namespace cpt
