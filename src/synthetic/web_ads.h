// A synthetic page/ad log: a random world in which pages are shown and each time an ad is drawn for the page, with
// known probability. All of it is a function of the options: memory grows with nothing, and any event can be asked for
// at any time. The same options give the same events on every machine (IEEE 754 doubles, no fused multiply-add).
//
// Ads belong to topics (data/ad_places.h), neighbouring topics form a section. A page has a topic of its own and speaks
// of the others of its section too: its words, and the ads shown on it, come from that mixture. Niche pages keep to
// their topic; the more popular a page is (data/page_visits.h), the broader it is. Some pages favour one place of their
// topic, which their words don't tell. House ads are shown on all pages alike.
#pragma once

#include <cstdint>
#include <vector>

#include "synthetic/ad_places.h"
#include "synthetic/page_visits.h"
#include "synthetic/web_ads_options.h"

namespace cpt {

struct Page {
  std::uint64_t number = 0;
  std::uint64_t topic = 0;
  double focus = 0;          // what it speaks of its own topic; the rest is any topic of the section, its own included
  unsigned favourite = 0;    // a rank among the places of its topic,
  double favour = 0;         // and the probability that an ad is taken from there, whatever the topics
  std::uint64_t length = 0;  // in words
};

struct Event {
  Page page;
  std::uint64_t ad = 0;
  double probability = 0;  // of the ad, given the page and the time: P(y | x, t)
};

// A word of a page and how often it has it.
struct WordCount {
  std::uint64_t word = 0;  // in [1, WebAds::kVocabulary)
  std::uint64_t count = 0;

  bool operator==(const WordCount&) const = default;
};

class WebAds {
 public:
  static constexpr std::uint64_t kCommonOctaves = 4;
  static constexpr std::uint64_t kCommonWords = std::uint64_t{1} << kCommonOctaves;  // below it: of no topic
  static constexpr std::uint64_t kTopicalWords = std::uint64_t{1} << 17;
  static constexpr std::uint64_t kVocabulary = kCommonWords + kTopicalWords;

  // Throws as WebAdsOptions::checked() does.
  explicit WebAds(const WebAdsOptions& options);

  const WebAdsOptions& options() const { return options_; }
  // Of the events, in order of time; the rest is for the test.
  std::uint64_t training_events() const { return options_.events - options_.events / 5; }

  // number < options().events
  Event event(std::uint64_t number) const;

  // number < options().pages
  Page page(std::uint64_t number) const;
  // Replaces `words` by the bag of words of a page, in ascending order of words: always the same of the same page, and
  // practically never that of another.
  void words(const Page& page, std::vector<WordCount>& words) const;

  // The conditional distribution of the place of the ad, given a page: a draw from it, and the sum of the probabilities
  // of all ways to draw this place.
  AdPlace draw_place(const Page& page, Draws& draws) const;
  double probability(const Page& page, AdPlace place) const;
  const AdPlaces& places() const { return places_; }

 private:
  struct Section {
    std::uint64_t first;
    std::uint64_t topics;
  };
  Section section_of(std::uint64_t topic) const;
  std::uint64_t draw_topic_of(const Page& page, Draws& draws) const;
  std::uint64_t draw_word(const Page& page, bool topical, Draws& draws) const;

  WebAdsOptions options_;
  PageVisits tasks_;
  AdPlaces places_;
  double house_;  // the part of the events that shows house ads
};

}  // namespace cpt
