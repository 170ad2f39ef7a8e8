// The kernel that finds rows against WeightTable::index(), on every instruction set of this machine.
#include <gtest/gtest.h>

#include <vector>

#include "model/random_stream.h"
#include "model/weights/kernels.h"
#include "model/weights/only_target.h"

namespace cpt {
namespace {

void expect_rows_of_indices(std::size_t count, const Region& region, Dice& dice) {
  // Of a table that is nowhere: the kernel computes addresses, and reads none.
  constexpr std::uintptr_t kBegin = std::uintptr_t{1} << 40;
  float* const table = reinterpret_cast<float*>(kBegin);
  std::vector<FeatureHash> features(count);
  for (FeatureHash& feature : features) feature = dice.chance(0.1) ? ~FeatureHash{0} - dice.below(3) : dice.bits();
  const std::uint64_t key = dice.bits() | 1;
  std::vector<float*> rows(count + 1, table);
  find_rows(features, key, region, table, rows.data());
  for (std::size_t f = 0; f < count; ++f) {
    const auto address = reinterpret_cast<std::uintptr_t>(rows[f]);
    ASSERT_EQ(address - kBegin, sizeof(Row) * WeightTable::index(features[f], key, region))
        << kernel_target() << ", " << f;
  }
  EXPECT_EQ(rows[count], table) << "what lies behind them is left alone";
}

TEST(RowKernel, FindsWhatTheIndexSays) {
  for (const std::int64_t target : targets()) {
    const OnlyTarget only(target);
    Dice dice(1);
    for (std::size_t count = 0; count < 40; ++count) {
      for (const std::uint64_t rows : {1ULL, 3ULL, 64ULL, 3ULL << 20, (1ULL << 32) - 1, 1ULL << 32, 5ULL << 33}) {
        for (int i = 0; i < 10; ++i) expect_rows_of_indices(count, {dice.below(1000), rows}, dice);
      }
    }
  }
}

}  // namespace
}  // namespace cpt
