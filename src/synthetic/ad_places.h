// The places of ads in a synthetic log: every topic has places of falling popularity, and from time to time a place
// changes to a new ad.
#pragma once

#include <array>
#include <cstdint>

#include "core/hashing/random.h"

namespace cpt {

// Purposes of random numbers (see Random). Each names what the index counts.
inline constexpr std::uint64_t kEventPurpose = 1;
inline constexpr std::uint64_t kPagePurpose = 2;
inline constexpr std::uint64_t kWordsPurpose = 3;
inline constexpr std::uint64_t kPlacePurpose = 4;
inline constexpr std::uint64_t kTopicPurpose = 5;

struct AdPlace {
  std::uint64_t topic = 0;
  unsigned rank = 0;

  bool operator==(const AdPlace&) const = default;
};

// The places of all topics, and those of house ads, which are shown on all pages and have the topic number topics(). An
// ad has one place and never comes back, so P(ad) is P(its place). Nothing is stored per ad.
class AdPlaces {
 public:
  static constexpr unsigned kRanks = 32;

  // Chooses the number of topics so that about `ads` ads are shown in `events` events with this turnover: within a few
  // per cent at the default proportions of WebAdsOptions, within a fifth elsewhere. 1 <= ads <= max(1, events / 8),
  // turnover >= 0.
  AdPlaces(std::uint64_t events, std::uint64_t ads, double turnover, std::uint64_t seed);

  std::uint64_t topics() const { return topics_; }
  // A topic; popularity falls with its number: the first is drawn 13 times as often as the last.
  std::uint64_t draw_topic(Random& random) const;

  // The places of one topic: weight(rank) is the probability that draw_rank() returns it.
  double weight(unsigned rank) const { return weights_[rank]; }
  unsigned draw_rank(Random& random) const;

  // The number of the ad in this place at this event; no two ads share one.
  std::uint64_t ad_at(AdPlace place, std::uint64_t event) const;

 private:
  std::uint64_t events_;
  double turnover_;
  std::uint64_t seed_;
  std::array<double, kRanks> weights_;
  std::uint64_t topics_;
};

}  // namespace cpt
