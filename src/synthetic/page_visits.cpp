#include "synthetic/page_visits.h"

#include <algorithm>
#include <bit>

namespace cpt {

namespace {

// The b in: after the fraction t of the log, the fraction t * (1 + b - b * t) of the pages has arrived.
constexpr double kSlowingDown = 0.95;

// Tier k has the pages 2^k - 1, 3 * 2^k - 1, 5 * 2^k - 1 ...; the last one has all multiples.
std::uint64_t pages_of_tier(unsigned tier, std::uint64_t pages) {
  const std::uint64_t multiples = pages >> tier;
  return tier + 1 == PageVisits::kTiers ? multiples : (multiples + 1) / 2;
}

std::uint64_t page_of_tier(unsigned tier, std::uint64_t index) {
  const std::uint64_t multiple = tier + 1 == PageVisits::kTiers ? index + 1 : 2 * index + 1;
  return (multiple << tier) - 1;
}

}  // namespace

PageVisits::PageVisits(std::uint64_t events, std::uint64_t pages, double skew) : events_(events), pages_(pages) {
  double popularity = 1;
  double part = 1;  // of the pages
  double sum = 0;
  for (unsigned tier = 0; tier < kTiers; ++tier) {
    if (tier + 1 < kTiers) part /= 2;
    sum += part * popularity;
    up_to_tier_[tier] = sum;
    popularity *= skew;
  }
}

std::uint64_t PageVisits::page_at(std::uint64_t event, Random& random) const {
  const std::uint64_t arrived = arrived_before(event);
  if (arrived_before(event + 1) > arrived) return arrived;
  const unsigned highest = std::min(kTiers, static_cast<unsigned>(std::bit_width(arrived))) - 1;
  const double at = random.unit() * up_to_tier_[highest];
  unsigned tier = 0;
  while (tier < highest && at >= up_to_tier_[tier]) ++tier;
  return page_of_tier(tier, random.below(pages_of_tier(tier, arrived)));
}

unsigned PageVisits::tier_of(std::uint64_t page) {
  return std::min(kTiers - 1, static_cast<unsigned>(std::countr_zero(page + 1)));
}

std::uint64_t PageVisits::arrived_before(std::uint64_t event) const {
  if (event == 0) return 0;
  if (event >= events_) return pages_;
  const double time = static_cast<double>(event) / static_cast<double>(events_);
  const double part = time * (1 + kSlowingDown - kSlowingDown * time);
  return 1 + static_cast<std::uint64_t>(static_cast<double>(pages_ - 1) * part);
}

}  // namespace cpt
