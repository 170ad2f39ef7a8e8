// The page shown at each event of a synthetic log: new pages arrive all the time, and some are more popular.
#pragma once

#include <array>
#include <cstdint>

#include "core/hashing/random.h"

namespace cpt {

// Pages are numbered in the order of their arrival, which is fast at first, then ever slower. A page is shown when it
// arrives, so all are shown. Half of all pages are in tier 0, a quarter in tier 1 and so on; the last two tiers have
// equal size. A page of the next tier is shown `skew` times as often. Nothing is stored per page.
class PageVisits {
 public:
  static constexpr unsigned kTiers = 10;

  // 1 <= pages <= max(1, events / 2), events <= 2^50, skew >= 1.
  PageVisits(std::uint64_t events, std::uint64_t pages, double skew);

  // The page of this event, in [0, pages). event < events.
  std::uint64_t page_at(std::uint64_t event, Random& random) const;

  static unsigned tier_of(std::uint64_t page);

 private:
  std::uint64_t arrived_before(std::uint64_t event) const;

  std::uint64_t events_;
  std::uint64_t pages_;
  std::array<double, kTiers> up_to_tier_{};  // by tier: the weight of all pages up to it
};

}  // namespace cpt
