// Large arrays of zeros come from the system and go back to it whole.
#include "core/zeroed_memory.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <fstream>

namespace cpt {
namespace {

std::uint64_t mapped_bytes() {
  std::uint64_t pages = 0;
  std::ifstream("/proc/self/statm") >> pages;
  return pages * static_cast<std::uint64_t>(sysconf(_SC_PAGESIZE));
}

TEST(ZeroedMemory, IsZeroAndBeginsAtAHugePage) {
  constexpr std::size_t kBytes = 3'000'001;
  const ZeroedArray<std::uint8_t> array = make_zeroed<std::uint8_t>(kBytes, "a test");
  EXPECT_EQ(reinterpret_cast<std::uintptr_t>(array.get()) % kHugePage, 0U);
  EXPECT_EQ(std::count(array.get(), array.get() + kBytes, 0), static_cast<std::ptrdiff_t>(kBytes));
}

TEST(ZeroedMemory, GoesBackWholeWhateverItsSize) {
  const std::uint64_t before = mapped_bytes();
  for (const std::size_t bytes : {std::size_t{1}, std::size_t{4096}, std::size_t{2'096'640}, 5 * kHugePage + 7}) {
    for (int i = 0; i < 100; ++i) make_zeroed<std::uint8_t>(bytes, "a test")[bytes - 1] = 1;
  }
  EXPECT_LT(mapped_bytes(), before + 10 * kHugePage);
}

}  // namespace
}  // namespace cpt
