#include "synthetic/page_visits.h"

#include <gtest/gtest.h>

#include <array>
#include <vector>

namespace cpt {
namespace {

std::vector<std::uint64_t> pages_shown(std::uint64_t events, std::uint64_t pages, double skew) {
  const PageVisits visits(events, pages, skew);
  std::vector<std::uint64_t> shown;
  for (std::uint64_t event = 0; event < events; ++event) {
    Random random(1, 1, event);
    shown.push_back(visits.page_at(event, random));
  }
  return shown;
}

TEST(PageVisits, PagesArriveOneByOneAndAllOfThemDo) {
  for (const std::uint64_t pages : {1U, 2U, 3U, 1'000U, 5'000U}) {
    std::uint64_t arrived = 0;
    for (const std::uint64_t page : pages_shown(10'000, pages, 3.8)) {
      ASSERT_LE(page, arrived);
      if (page == arrived) ++arrived;
    }
    EXPECT_EQ(arrived, pages);
  }
}

TEST(PageVisits, NewPagesGetFewerAsTimeGoes) {
  std::uint64_t arrived = 0;
  std::array<std::uint64_t, 5> new_pages{};
  std::uint64_t event = 0;
  for (const std::uint64_t page : pages_shown(10'000, 1'000, 3.8)) {
    if (page == arrived) ++new_pages[event / 2'000];
    if (page == arrived) ++arrived;
    ++event;
  }
  EXPECT_GT(new_pages[4], 10U);
  for (std::size_t i = 1; i < new_pages.size(); ++i) EXPECT_LT(new_pages[i], new_pages[i - 1]);
}

TEST(PageVisits, HalfAsManyPagesAreShownSkewTimesAsOften) {
  constexpr double kSkew = 3;
  constexpr std::uint64_t kPages = 1 << 14;
  std::vector<double> visits(kPages, -1);  // beyond the first
  for (const std::uint64_t page : pages_shown(2'000'000, kPages, kSkew)) visits[page] += 1;
  std::array<double, PageVisits::kTiers> pages_of{};
  std::array<double, PageVisits::kTiers> visits_of{};
  for (std::uint64_t page = 0; page < kPages; ++page) {
    pages_of[PageVisits::tier_of(page)] += 1;
    visits_of[PageVisits::tier_of(page)] += visits[page];
  }
  for (std::size_t tier = 1; tier < PageVisits::kTiers; ++tier) {
    const double rate = visits_of[tier] / pages_of[tier];
    const double rate_before = visits_of[tier - 1] / pages_of[tier - 1];
    EXPECT_NEAR(rate / rate_before, kSkew, 0.1 * kSkew) << tier;
    if (tier + 1 < PageVisits::kTiers) {
      EXPECT_NEAR(pages_of[tier - 1] / pages_of[tier], 2, 0.1) << tier;
    }
  }
}

}  // namespace
}  // namespace cpt
