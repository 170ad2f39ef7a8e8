#include "synthetic/web_ads_options.h"

#include <algorithm>
#include <cmath>
#include <string>

#include "core/number_text.h"
#include "cpt/error.h"

namespace cpt {

namespace {

constexpr std::uint64_t kPublishedEvents = 50'000'000;
constexpr std::uint64_t kPublishedPages = 5'800'000;
constexpr std::uint64_t kPublishedAds = 860'000;
// Above it times and numbers of pages would no longer be exact in a double.
constexpr std::uint64_t kMostEvents = std::uint64_t{1} << 50;
// Pages arrive at up to 1.95 times their mean rate, and at most one with an event.
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
  // Not the other way round: NaN is in no range.
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

}  // namespace cpt
