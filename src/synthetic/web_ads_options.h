// What a synthetic page/ad log is to look like.
#pragma once

#include <cstdint>

namespace cpt {

// The defaults give a log with the marginals published for the conditional probability tree (DESIGN.md 8), scaled.
struct WebAdsOptions {
  std::uint64_t events = 1'000'000;
  std::uint64_t pages = 0;  // that are shown at all; 0: 5.8 M per 50 M events
  std::uint64_t ads = 0;    // that are shown at all, about; 0: 860 K per 50 M events
  std::uint64_t seed = 1;
  double page_skew = 4;       // half as many pages are shown so many times as often; in [1, 16]
  double ad_turnover = 1.15;  // ads that a place for ads loses to new ones during the log, on average; in [0, 100]
  double top_ad = 0.012;      // the part of the events that shows the most frequent ad; in [0, 0.5]
  double topic_words = 0.14;  // the part of a page's words that speak of its topics, beyond its first few; in [0, 1]

  // The same with pages and ads as they follow from the events. Throws Error(kUsage) where a value is out of its range,
  // or where there are too few events for so many pages or ads.
  WebAdsOptions checked() const;
};

}  // namespace cpt
