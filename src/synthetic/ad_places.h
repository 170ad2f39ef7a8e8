// Where the ads of a synthetic log are: every topic has places for ads, of falling popularity, and from time to time a
// place goes to a new ad.
#pragma once

#include <array>
#include <cstdint>

#include "synthetic/draws.h"

namespace cpt {

struct AdPlace {
  std::uint64_t topic = 0;
  unsigned rank = 0;

  bool operator==(const AdPlace&) const = default;
};

// The places of all topics and of the house, whose ads are shown on all pages, and which are held under the topic
// number topics(). An ad has one place and never comes back, so P(ad) is P(its place). Nothing is kept per ad.
class AdPlaces {
 public:
  static constexpr unsigned kRanks = 32;

  // As many topics as it takes for about `ads` ads to be shown in `events` events, if places change hands so often: to
  // a few per cent at the default proportions of WebAdsOptions, to a fifth elsewhere. 1 <= ads <= max(1, events / 8),
  // turnover >= 0.
  AdPlaces(std::uint64_t events, std::uint64_t ads, double turnover, std::uint64_t seed);

  std::uint64_t topics() const { return topics_; }
  // A topic, some more popular than others: the first is asked for 13 times as often as the last.
  std::uint64_t draw_topic(Draws& draws) const;

  // Among the places of one topic: weight(rank) is the probability with which draw_rank() gives it.
  double weight(unsigned rank) const { return weights_[rank]; }
  unsigned draw_rank(Draws& draws) const;

  // The number of the ad that has the place at this event, different for all ads.
  std::uint64_t ad_at(AdPlace place, std::uint64_t event) const;

 private:
  std::uint64_t events_;
  double turnover_;
  std::uint64_t seed_;
  std::array<double, kRanks> weights_;
  std::uint64_t topics_;
};

}  // namespace cpt
