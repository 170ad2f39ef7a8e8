// Which page is shown at an event of a synthetic log: new pages all the time, and a popularity of their own.
#pragma once

#include <array>
#include <cstdint>

#include "synthetic/draws.h"

namespace cpt {

// Pages are numbered in the order of their arrival: fast at first, then ever slower. With its arrival a page is shown
// for the first time, so that all are shown. Half of all pages are of tier 0, a quarter of tier 1 and so on, the last
// two tiers being equal; a page of the next tier is shown `skew` times as often. Nothing is kept per page.
class PageVisits {
 public:
  static constexpr unsigned kTiers = 10;

  // 1 <= pages <= max(1, events / 2), events <= 2^50, skew >= 1.
  PageVisits(std::uint64_t events, std::uint64_t pages, double skew);

  // The page of this event, in [0, pages). event < events.
  std::uint64_t page_at(std::uint64_t event, Draws& draws) const;

  static unsigned tier_of(std::uint64_t page);

 private:
  std::uint64_t arrived_before(std::uint64_t event) const;

  std::uint64_t events_;
  std::uint64_t pages_;
  std::array<double, kTiers> up_to_tier_{};  // cumulative weights, of all pages of the tiers
};

}  // namespace cpt
