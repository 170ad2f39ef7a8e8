#include "synthetic/web_ads.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <map>
#include <set>
#include <utility>

#include "data/folder.h"
#include "data/reading.h"

namespace cpt {
namespace {

using ::testing::HasSubstr;

WebAdsOptions small_world(std::uint64_t seed = 1) {
  return {.events = 20'000, .pages = 2'000, .ads = 500, .seed = seed};
}

// All places there are, those of the house included.
std::vector<AdPlace> all_places(const WebAds& world) {
  std::vector<AdPlace> places;
  for (std::uint64_t topic = 0; topic <= world.places().topics(); ++topic) {
    for (unsigned rank = 0; rank < AdPlaces::kRanks; ++rank) places.push_back({topic, rank});
  }
  return places;
}

std::string lines_of(const WebAds& world, std::uint64_t events) {
  std::string text;
  std::vector<WordCount> words;
  for (std::uint64_t number = 0; number < events; ++number) {
    const Event event = world.event(number);
    world.words(event.page, words);
    append_line(Format::kVw, event.ad, words, text);
  }
  return text;
}

// The bytes of this version, on every machine: logs that people compare are made anew, not copied.
TEST(WebAds, TheSameOptionsGiveTheSameBytesForEver) {
  const std::string text = lines_of(WebAds(small_world()), 20'000);
  EXPECT_EQ(hash_label(text), 13233273130959010059ULL);
  EXPECT_EQ(text, lines_of(WebAds(small_world()), 20'000));
  EXPECT_NE(text, lines_of(WebAds(small_world(2)), 20'000));
}

TEST(WebAds, EventsCanBeAskedForInAnyOrder) {
  const WebAds world(small_world());
  const Event late = world.event(15'000);
  for (const std::uint64_t number : {0U, 19'999U, 7U}) world.event(number);
  const Event again = world.event(15'000);
  EXPECT_EQ(again.page.number, late.page.number);
  EXPECT_EQ(again.ad, late.ad);
  EXPECT_EQ(again.probability, late.probability);
}

TEST(WebAds, TheProbabilitiesOfAllAdsSumToOne) {
  const WebAds world(small_world());
  const std::vector<AdPlace> places = all_places(world);
  for (std::uint64_t number = 0; number < 2'000; number += 7) {
    const Page page = world.page(number);
    double sum = 0;
    for (const AdPlace& place : places) sum += world.probability(page, place);
    EXPECT_NEAR(sum, 1, 1e-12) << number;
  }
}

// So P of a place is P of its ad.
TEST(WebAds, AnAdHasOnePlaceAndTheProbabilityOfThatPlace) {
  const WebAds world(small_world());
  const std::vector<AdPlace> places = all_places(world);
  std::map<std::uint64_t, AdPlace> place_of;
  for (std::uint64_t number = 0; number < 20'000; number += 199) {
    for (const AdPlace& place : places) {
      const auto found = place_of.emplace(world.places().ad_at(place, number), place).first;
      EXPECT_EQ(found->second, place);
    }
    const Event event = world.event(number);
    EXPECT_EQ(event.probability, world.probability(event.page, place_of.at(event.ad)));
    EXPECT_GT(event.probability, 0);
  }
}

TEST(WebAds, FrequenciesAgreeWithTheProbabilities) {
  const WebAds world(small_world());
  constexpr double kDraws = 100'000;
  for (const std::uint64_t number : {0U, 1U, 511U, 1023U, 1500U}) {
    const Page page = world.page(number);
    Random random(99, 99, number);
    std::map<std::pair<std::uint64_t, unsigned>, double> counts;
    for (int i = 0; i < kDraws; ++i) {
      const AdPlace place = world.draw_place(page, random);
      counts[{place.topic, place.rank}] += 1;
    }
    double chi_square = 0;
    double cells = 0;
    for (const AdPlace& place : all_places(world)) {
      const double expected = kDraws * world.probability(page, place);
      const double count = counts[{place.topic, place.rank}];
      if (expected == 0) {
        EXPECT_EQ(count, 0);
      }
      if (expected < 5) continue;
      chi_square += (count - expected) * (count - expected) / expected;
      cells += 1;
    }
    EXPECT_GT(cells, 50);
    EXPECT_LT(chi_square, cells + 4 * std::sqrt(2 * cells)) << number;
  }
}

TEST(WebAds, PagesHaveWordsOfTheirOwn) {
  const WebAds world({.events = 500'000});
  std::set<std::vector<std::pair<std::uint64_t, std::uint64_t>>> bags;
  std::vector<WordCount> words;
  std::vector<WordCount> again;
  for (std::uint64_t number = 0; number < world.options().pages; ++number) {
    const Page page = world.page(number);
    world.words(page, words);
    world.words(page, again);
    EXPECT_EQ(words, again);
    std::uint64_t length = 0;
    std::vector<std::pair<std::uint64_t, std::uint64_t>> bag;
    for (const WordCount& each : words) {
      EXPECT_TRUE(each.word >= 1 && each.word < WebAds::kVocabulary);
      EXPECT_TRUE(bag.empty() || bag.back().first < each.word);
      length += each.count;
      bag.emplace_back(each.word, each.count);
    }
    EXPECT_EQ(length, page.length);
    EXPECT_TRUE(bags.insert(bag).second) << number;
  }
}

TEST(WebAds, FourFifthsOfTheEventsAreForTraining) {
  EXPECT_EQ(WebAds(small_world()).training_events(), 16'000U);
  const WebAdsOptions one{.events = 1};
  EXPECT_EQ(WebAds(one).training_events(), 1U);
  EXPECT_EQ(WebAds(one).event(0).page.number, 0U);
}

TEST(WebAds, PagesAndAdsScaleWithTheEvents) {
  const WebAdsOptions published = WebAdsOptions{.events = 50'000'000}.checked();
  EXPECT_EQ(published.pages, 5'800'000U);
  EXPECT_EQ(published.ads, 860'000U);
  const WebAdsOptions few = WebAdsOptions{.events = 10}.checked();
  EXPECT_EQ(few.pages, 1U);
  EXPECT_EQ(few.ads, 1U);
}

TEST(WebAds, OptionsOutOfTheirRangeAreRefused) {
  const auto reason = [](const WebAdsOptions& options) {
    return error_of(Fault::kUsage, [&] { WebAds world(options); });
  };
  EXPECT_THAT(reason({.events = 0}), HasSubstr("--events"));
  EXPECT_THAT(reason({.events = ~0ULL}), HasSubstr("--events"));
  EXPECT_THAT(reason({.pages = 500'001}), HasSubstr("--pages"));
  EXPECT_THAT(reason({.ads = 125'001}), HasSubstr("--ads"));
  EXPECT_THAT(reason({.page_skew = 0.9}), HasSubstr("--page-skew"));
  EXPECT_THAT(reason({.ad_turnover = -1}), HasSubstr("--ad-turnover"));
  EXPECT_THAT(reason({.top_ad = std::nan("")}), HasSubstr("--top-ad"));
  EXPECT_THAT(reason({.topic_words = 1.1}), HasSubstr("--topic-words"));
}

TEST(AppendLine, EveryFormatAsItsHeaderSaysAndAsItIsReadBack) {
  struct Case {
    Format format;
    std::string line;
    std::string label;
    Features x;
  };
  const std::vector<Case> cases = {
      {Format::kVw, "ad17 |page w5 w9:2 w131087\n", "ad17",
       features({{"page", "w5"}, {"page", "w9", 2}, {"page", "w131087"}})},
      {Format::kLibsvm, "17 5:1 9:2 131087:1\n", "17", features({{"", "5"}, {"", "9", 2}, {"", "131087"}})},
      {Format::kFasttext, "__label__ad17 w5 w9 w9 w131087\n", "ad17",
       features({{"", "w5"}, {"", "w9", 2}, {"", "w131087"}})}};
  const std::vector<WordCount> words{{5, 1}, {9, 2}, {131'087, 1}};
  const Folder folder;
  for (const Case& c : cases) {
    std::string text = "before\n";
    append_line(c.format, 17, words, text);
    EXPECT_EQ(text, "before\n" + c.line);
    EXPECT_EQ(read_all({folder.write("log", c.line)}), (std::vector<Read>{{c.label, c.x, 1, 0, 1}}));
  }
}

}  // namespace
}  // namespace cpt
