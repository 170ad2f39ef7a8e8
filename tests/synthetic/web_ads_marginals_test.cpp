// Whether a log has the published marginals (see WebAdsOptions), scaled to a million events.
#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <unordered_map>
#include <utility>
#include <vector>

#include "synthetic/web_ads.h"

namespace cpt {
namespace {

// Counts of pages and of pairs of page and ad.
class Table {
 public:
  void learn(const Event& event) {
    ++pages_[event.page.number];
    ++pairs_[pair_of(event)];
  }
  // The part of the page's events that showed the ad; 0 for an unseen page.
  double frequency(const Event& event) const {
    const auto pair = pairs_.find(pair_of(event));
    return pair == pairs_.end() ? 0 : pair->second / pages_.at(event.page.number);
  }
  std::size_t pages() const { return pages_.size(); }

 private:
  static std::uint64_t pair_of(const Event& event) { return mix(event.ad) ^ event.page.number; }

  std::unordered_map<std::uint64_t, double> pages_;
  std::unordered_map<std::uint64_t, double> pairs_;
};

struct Marginals {
  double table = 0;   // loss on the test events of the frequencies among all events before
  double best = 0;    // loss of the frequencies among the test events themselves
  double truth = 0;   // loss of the true P
  double top_ad = 0;  // part of the events
  double pages = 0;
  double ads = 0;
};

double squared_loss(double p) { return (1 - p) * (1 - p); }

Marginals marginals_of(const WebAds& world) {
  Marginals result;
  Table before;
  std::unordered_map<std::uint64_t, double> ads;
  std::vector<Event> test;
  for (std::uint64_t number = 0; number < world.options().events; ++number) {
    const Event event = world.event(number);
    if (number >= world.training_events()) {
      result.table += squared_loss(before.frequency(event));
      result.truth += squared_loss(event.probability);
      test.push_back(event);
    }
    before.learn(event);
    ++ads[event.ad];
  }
  Table of_test;
  for (const Event& event : test) of_test.learn(event);
  for (const Event& event : test) result.best += squared_loss(of_test.frequency(event));
  for (double* loss : {&result.table, &result.best, &result.truth}) *loss /= static_cast<double>(test.size());
  for (const auto& [ad, count] : ads) result.top_ad = std::max(result.top_ad, count);
  result.top_ad /= static_cast<double>(world.options().events);
  result.pages = static_cast<double>(before.pages());
  result.ads = static_cast<double>(ads.size());
  return result;
}

TEST(WebAdsMarginals, AreThePublishedOnesAtAMillionEvents) {
  const Marginals marginals = marginals_of(WebAds({}));
  EXPECT_NEAR(marginals.table, 0.812, 0.02);
  EXPECT_NEAR(marginals.best, 0.665, 0.02);
  EXPECT_NEAR(marginals.top_ad, 0.012, 0.002);
  EXPECT_NEAR(marginals.pages, 116'000, 0.03 * 116'000);
  EXPECT_NEAR(marginals.ads, 17'200, 0.03 * 17'200);
  // Room for a learner that generalises: the table is far from what could be known of pages, new ones included.
  EXPECT_LT(marginals.truth, 0.72);
}

TEST(WebAdsMarginals, FollowTheOptions) {
  WebAdsOptions options;
  options.events = 400'000;
  options.pages = 30'000;
  for (const auto& [turnover, ads] : {std::pair{0.0, 3'000U}, {1.0, 10'000U}, {8.0, 30'000U}}) {
    options.ad_turnover = turnover;
    options.ads = ads;
    const Marginals marginals = marginals_of(WebAds(options));
    EXPECT_NEAR(marginals.ads, ads, 0.2 * ads) << turnover;
    EXPECT_EQ(marginals.pages, 30'000) << turnover;
  }
}

}  // namespace
}  // namespace cpt
