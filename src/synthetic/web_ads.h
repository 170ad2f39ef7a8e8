// A synthetic page/ad log: a random world in which pages are shown, each time with an ad drawn for the page, with known
// probability. All of it is a function of the options: memory does not grow, and events can be computed in any order.
// The same options give the same events on every machine (IEEE 754 doubles, no fused multiply-add).
//
// Ads belong to topics (synthetic/ad_places.h); neighbouring topics form a section. A page has a topic of its own and
// also covers the others of its section: its words, and its ads, come from that mixture. Niche pages keep to their
// topic; the more popular a page is (synthetic/page_visits.h), the broader it is. Some pages favour one place of their
// topic, which their words do not show. House ads are shown on all pages alike.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "cpt/input.h"
#include "synthetic/ad_places.h"
#include "synthetic/page_visits.h"

namespace cpt {

// The defaults give a log with the marginals published for the conditional probability tree, scaled.
struct WebAdsOptions {
  std::uint64_t events = 1'000'000;
  std::uint64_t pages = 0;  // shown at least once; 0: 5.8 M per 50 M events
  std::uint64_t ads = 0;    // shown at least once, about; 0: 860 K per 50 M events
  std::uint64_t seed = 1;
  double page_skew = 4;       // pages of each tier, half as many, are shown this many times as often; in [1, 16]
  double ad_turnover = 1.15;  // mean number of times that a place changes to a new ad during the log; in [0, 100]
  double top_ad = 0.012;      // the part of the events that shows the most frequent ad; in [0, 0.5]
  double topic_words = 0.14;  // the part of a page's words that come from its topics, beyond its first few; in [0, 1]

  // The same, with pages and ads computed from the events where they are 0. Throws Error(kUsage) if a value is out of
  // its range, or if there are too few events for that many pages or ads.
  WebAdsOptions checked() const;
};

struct Page {
  std::uint64_t number = 0;
  std::uint64_t topic = 0;
  double focus = 0;          // part on its own topic; the rest is any topic of the section, its own included
  unsigned favourite = 0;    // a rank among the places of its topic
  double favour = 0;         // probability that an ad is taken from there, whatever the topics
  std::uint64_t length = 0;  // in words
};

struct Event {
  Page page;
  std::uint64_t ad = 0;
  double probability = 0;  // of the ad, given the page and the time: P(y | x, t)
};

// A word of a page, and its count.
struct WordCount {
  std::uint64_t word = 0;  // in [1, WebAds::kVocabulary)
  std::uint64_t count = 0;

  bool operator==(const WordCount&) const = default;
};

class WebAds {
 public:
  static constexpr std::uint64_t kCommonOctaves = 4;
  static constexpr std::uint64_t kCommonWords = std::uint64_t{1} << kCommonOctaves;  // words below belong to no topic
  static constexpr std::uint64_t kTopicalWords = std::uint64_t{1} << 17;
  static constexpr std::uint64_t kVocabulary = kCommonWords + kTopicalWords;

  // Throws as WebAdsOptions::checked() does.
  explicit WebAds(const WebAdsOptions& options);

  const WebAdsOptions& options() const { return options_; }
  // The number of events to train on, the first in time; the rest is for testing.
  std::uint64_t training_events() const { return options_.events - options_.events / 5; }

  // number < options().events
  Event event(std::uint64_t number) const;

  // number < options().pages
  Page page(std::uint64_t number) const;
  // Replaces `words` by the bag of words of a page, in ascending order of words: always the same for the same page, and
  // practically always different for another.
  void words(const Page& page, std::vector<WordCount>& words) const;

  // The conditional distribution of the place of the ad, given a page: a draw from it, and the probability of a place,
  // summed over all ways to draw it.
  AdPlace draw_place(const Page& page, Random& random) const;
  double probability(const Page& page, AdPlace place) const;
  const AdPlaces& places() const { return places_; }

 private:
  struct Section {
    std::uint64_t first;
    std::uint64_t topics;
  };
  Section section_of(std::uint64_t topic) const;
  std::uint64_t draw_topic_of(const Page& page, Random& random) const;
  std::uint64_t draw_word(const Page& page, bool topical, Random& random) const;

  WebAdsOptions options_;
  PageVisits visits_;
  AdPlaces places_;
  double house_;  // the part of the events that shows house ads
};

// Appends one line and its end: the ad is the label, the words are the features, their counts the values.
//   vw        ad17 |page w5 w9:2
//   libsvm    17 5:1 9:2
//   fasttext  __label__ad17 w5 w9 w9
// `format` is one of these; words ascend.
void append_line(Format format, std::uint64_t ad, std::span<const WordCount> words, std::string& text);

}  // namespace cpt
