#include "synthetic/web_ads.h"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <string_view>

#include "core/number_text.h"
#include "cpt/error.h"
#include "data/parsers/line_parser.h"

namespace cpt {

namespace {

// In [1, 2^octaves), about in proportion to 1 / n (Zipf's law with exponent 1): each octave [2^k, 2^(k+1)) has the same
// probability, and so has each number in it. octaves in [1, 63].
std::uint64_t draw_zipf(Random& random, std::uint64_t octaves) {
  const std::uint64_t first = std::uint64_t{1} << random.below(octaves);
  return first + random.below(first);
}

constexpr std::uint64_t kPublishedEvents = 50'000'000;
constexpr std::uint64_t kPublishedPages = 5'800'000;
constexpr std::uint64_t kPublishedAds = 860'000;
// With more events, times and page numbers would not be exact in a double.
constexpr std::uint64_t kMostEvents = std::uint64_t{1} << 50;
// Pages arrive at up to 1.95 times their mean rate, at most one at each event.
constexpr std::uint64_t kEventsPerPage = 2;
constexpr std::uint64_t kEventsPerAd = 8;

std::uint64_t scaled(std::uint64_t published, std::uint64_t events) {
  const double part = static_cast<double>(events) / static_cast<double>(kPublishedEvents);
  return std::max<std::uint64_t>(1, static_cast<std::uint64_t>(std::llround(part * static_cast<double>(published))));
}

void require(bool holds, const std::string& reason) {
  if (!holds) throw Error(Fault::kUsage, reason);
}

void require_range(const char* name, double value, double least, double most) {
  // This form also refuses NaN.
  require(value >= least && value <= most, std::string("--") + name + " is " + number_text(value) +
                                               ": it must be in [" + number_text(least) + ", " + number_text(most) +
                                               "]");
}

}  // namespace

WebAdsOptions WebAdsOptions::checked() const {
  require(events >= 1 && events <= kMostEvents, "--events is " + std::to_string(events) + ": it must be in [1, 2^50]");
  require_range("page-skew", page_skew, 1, 16);
  require_range("ad-turnover", ad_turnover, 0, 100);
  require_range("top-ad", top_ad, 0, 0.5);
  require_range("topic-words", topic_words, 0, 1);
  WebAdsOptions complete = *this;
  if (pages == 0) complete.pages = scaled(kPublishedPages, events);
  if (ads == 0) complete.ads = scaled(kPublishedAds, events);
  require(complete.pages <= std::max<std::uint64_t>(1, events / kEventsPerPage),
          "--pages is more than half of --events: " + std::to_string(complete.pages));
  require(complete.ads <= std::max<std::uint64_t>(1, events / kEventsPerAd),
          "--ads is more than an eighth of --events: " + std::to_string(complete.ads));
  return complete;
}

namespace {

constexpr std::uint64_t kTopicsOfSection = 8;

constexpr double kNicheFocus = 0.9;
constexpr double kBroadFocus = 0.575;
constexpr double kFocusSpread = 0.1;
constexpr double kPagesWithFavourite = 0.5;
constexpr double kMostFavour = 0.2;

constexpr std::uint64_t kShortestPage = 12;
constexpr std::uint64_t kLongestPage = 25;
// Words of a page that always come from its topics, so that no two pages have the same words.
constexpr std::uint64_t kSureTopicalWords = 3;
constexpr std::uint64_t kOctavesOfTopic = 10;

double focus_of(unsigned tier, double deviation) {
  const double broadness = static_cast<double>(tier) / (PageVisits::kTiers - 1);
  const double mean = kNicheFocus - (kNicheFocus - kBroadFocus) * broadness;
  return std::clamp(mean + kFocusSpread * deviation, 0.0, 1.0);
}

void count_equal_words(std::vector<WordCount>& words) {
  std::sort(words.begin(), words.end(), [](const WordCount& a, const WordCount& b) { return a.word < b.word; });
  std::size_t kept = 0;
  for (const WordCount& each : words) {
    if (kept > 0 && words[kept - 1].word == each.word) {
      words[kept - 1].count += each.count;
    } else {
      words[kept++] = each;
    }
  }
  words.resize(kept);
}

}  // namespace

WebAds::WebAds(const WebAdsOptions& options)
    : options_(options.checked()),
      visits_(options_.events, options_.pages, options_.page_skew),
      places_(options_.events, options_.ads, options_.ad_turnover, options_.seed),
      house_(options_.top_ad / places_.weight(0)) {}

Event WebAds::event(std::uint64_t number) const {
  Random random(options_.seed, kEventPurpose, number);
  const Page page = this->page(visits_.page_at(number, random));
  const AdPlace place = draw_place(page, random);
  return {page, places_.ad_at(place, number), probability(page, place)};
}

Page WebAds::page(std::uint64_t number) const {
  Random random(options_.seed, kPagePurpose, number);
  Page page;
  page.number = number;
  page.topic = places_.draw_topic(random);
  page.focus = focus_of(PageVisits::tier_of(number), 2 * random.unit() - 1);
  page.favourite = places_.draw_rank(random);
  page.favour = random.unit() < kPagesWithFavourite ? kMostFavour * random.unit() : 0;
  page.length = kShortestPage + random.below(kLongestPage - kShortestPage + 1);
  return page;
}

void WebAds::words(const Page& page, std::vector<WordCount>& words) const {
  Random random(options_.seed, kWordsPurpose, page.number);
  words.clear();
  for (std::uint64_t i = 0; i < page.length; ++i) {
    const bool topical = i < kSureTopicalWords || random.unit() < options_.topic_words;
    words.push_back({draw_word(page, topical, random), 1});
  }
  count_equal_words(words);
}

AdPlace WebAds::draw_place(const Page& page, Random& random) const {
  if (random.unit() < house_) return {places_.topics(), places_.draw_rank(random)};
  if (random.unit() < page.favour) return {page.topic, page.favourite};
  const std::uint64_t topic = draw_topic_of(page, random);
  return {topic, places_.draw_rank(random)};
}

double WebAds::probability(const Page& page, AdPlace place) const {
  const double weight = places_.weight(place.rank);
  if (place.topic == places_.topics()) return house_ * weight;
  const Section section = section_of(page.topic);
  if (place.topic < section.first || place.topic >= section.first + section.topics) return 0;
  const bool own = place.topic == page.topic;
  const double of_topic = (1 - page.focus) / static_cast<double>(section.topics) + (own ? page.focus : 0);
  const double of_favourite = own && place.rank == page.favourite ? page.favour : 0;
  return (1 - house_) * (of_favourite + (1 - page.favour) * of_topic * weight);
}

WebAds::Section WebAds::section_of(std::uint64_t topic) const {
  const std::uint64_t first = topic - topic % kTopicsOfSection;
  return {first, std::min(kTopicsOfSection, places_.topics() - first)};
}

std::uint64_t WebAds::draw_topic_of(const Page& page, Random& random) const {
  if (random.unit() < page.focus) return page.topic;
  const Section section = section_of(page.topic);
  return section.first + random.below(section.topics);
}

std::uint64_t WebAds::draw_word(const Page& page, bool topical, Random& random) const {
  if (!topical) return draw_zipf(random, kCommonOctaves);
  const std::uint64_t topic = draw_topic_of(page, random);
  const std::uint64_t rank = draw_zipf(random, kOctavesOfTopic);
  Random words_of_topic(options_.seed, kTopicPurpose, (topic << kOctavesOfTopic) + rank);
  return kCommonWords + words_of_topic.below(kTopicalWords);
}

namespace {

void append(std::string_view prefix, std::uint64_t number, std::string& text) {
  char digits[20];
  char* end = std::to_chars(digits, digits + sizeof digits, number).ptr;
  text.append(prefix).append(digits, end);
}

void append_vw(std::uint64_t ad, std::span<const WordCount> words, std::string& text) {
  append("ad", ad, text);
  text += " |page";
  for (const WordCount& each : words) {
    append(" w", each.word, text);
    if (each.count > 1) append(":", each.count, text);
  }
}

void append_libsvm(std::uint64_t ad, std::span<const WordCount> words, std::string& text) {
  append("", ad, text);
  for (const WordCount& each : words) {
    append(" ", each.word, text);
    append(":", each.count, text);
  }
}

void append_fasttext(std::uint64_t ad, std::span<const WordCount> words, std::string& text) {
  text += kFasttextLabelPrefix;
  append("ad", ad, text);
  for (const WordCount& each : words) {
    for (std::uint64_t i = 0; i < each.count; ++i) append(" w", each.word, text);
  }
}

}  // namespace

void append_line(Format format, std::uint64_t ad, std::span<const WordCount> words, std::string& text) {
  if (format == Format::kLibsvm) {
    append_libsvm(ad, words, text);
  } else if (format == Format::kFasttext) {
    append_fasttext(ad, words, text);
  } else {
    append_vw(ad, words, text);
  }
  text += '\n';
}

}  // namespace cpt
