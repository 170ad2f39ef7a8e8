#include "core/checked.h"

#include <gtest/gtest.h>

#include <cstdint>
#include <limits>

namespace cpt {
namespace {

TEST(Narrow, KeepsWhatFits) {
  EXPECT_EQ(narrow<std::uint8_t>(255, "n"), 255);
  EXPECT_EQ(narrow<std::int8_t>(std::uint64_t{127}, "n"), 127);
  EXPECT_EQ(narrow<std::uint64_t>(std::numeric_limits<std::int64_t>::max(), "n"), 0x7fffffffffffffffULL);
}

TEST(Narrow, RefusesWhatDoesNot) {
  EXPECT_THROW(narrow<std::uint8_t>(256, "n"), Error);
  EXPECT_THROW(narrow<std::uint64_t>(-1, "n"), Error);
  EXPECT_THROW(narrow<std::int64_t>(std::numeric_limits<std::uint64_t>::max(), "n"), Error);
}

TEST(Narrow, NamesTheNumber) {
  try {
    narrow<std::int8_t>(128, "the number of ranks");
    FAIL();
  } catch (const Error& error) {
    EXPECT_EQ(error.fault(), Fault::kFailed);
    EXPECT_STREQ(error.what(), "the number of ranks 128 does not fit its type");
  }
}

}  // namespace
}  // namespace cpt
