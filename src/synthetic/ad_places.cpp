#include "synthetic/ad_places.h"

#include <algorithm>
#include <cmath>

namespace cpt {

namespace {

using Weights = std::array<double, AdPlaces::kRanks>;

// The turnover of a place is the mean turnover times a factor in [kLeastPace, kLeastPace + 1).
constexpr double kLeastPace = 0.5;

Weights falling_weights() {
  Weights weights{};
  double sum = 0;
  for (unsigned rank = 0; rank < weights.size(); ++rank) {
    weights[rank] = 1 / static_cast<double>((rank + 1) * (rank + 1));
    sum += weights[rank];
  }
  for (double& weight : weights) weight /= sum;
  return weights;
}

// A draw takes the topic number topic_part(u) * topics, u uniform in [0, 1).
constexpr double kFlatPart = 0.2;
double topic_part(double u) { return kFlatPart * u + (1 - kFlatPart) * u * u * u; }
double topics_at(double u) { return kFlatPart + (1 - kFlatPart) * 3 * u * u; }  // its derivative

// 1 - exp(-x), x >= 0, from multiplications alone: the library's exp may differ between machines, and with it the
// number of topics.
double chance_of_any(double x) {
  constexpr int kSquarings = 24;
  if (x > 40) return 1;
  double none = 1 - x / static_cast<double>(1 << kSquarings);
  for (int i = 0; i < kSquarings; ++i) none *= none;
  return 1 - none;
}

// The mean number of ads shown in a place that is shown `shows` times during the log: a new ad comes every 1 / turnover
// of a log, and the first one began at a random time before it.
double ads_shown(double shows, double turnover) {
  if (shows <= 0) return 0;
  if (turnover <= 0) return chance_of_any(shows);
  const double stay = 1 / turnover;
  const double longest = std::min(stay, 1.0);  // the part of the log for which an ad can be seen
  const double seen = chance_of_any(shows * longest);
  return turnover * (std::abs(1 - stay) * seen + 2 * (longest - seen / shows));
}

double ads_shown_of_topic(double shows, double turnover, const Weights& weights) {
  constexpr int kPaces = 4;
  double ads = 0;
  for (const double weight : weights) {
    for (int i = 0; i < kPaces; ++i) {
      ads += ads_shown(shows * weight, turnover * (kLeastPace + (i + 0.5) / kPaces)) / kPaces;
    }
  }
  return ads;
}

double ads_shown_of_all(double topics, double events, double turnover, const Weights& weights) {
  constexpr int kPopularities = 16;
  double ads = 0;
  for (int i = 0; i < kPopularities; ++i) {
    const double such_topics = topics * topics_at((i + 0.5) / kPopularities) / kPopularities;
    ads += such_topics * ads_shown_of_topic(events / kPopularities / such_topics, turnover, weights);
  }
  return ads;
}

// The ratio of the ads shown to those computed: a few pages, and so a few topics, take most of the events. Measured at
// the default proportions; the same for any number of events.
constexpr double kShownInSpiteOfPages = 0.917;

std::uint64_t topics_for(double ads, double events, double turnover, const Weights& weights) {
  std::uint64_t enough = 1;
  while (static_cast<double>(enough) < ads &&
         ads_shown_of_all(static_cast<double>(enough), events, turnover, weights) < ads) {
    enough *= 2;
  }
  std::uint64_t too_few = enough / 2;
  while (enough - too_few > 1) {
    const std::uint64_t middle = too_few + (enough - too_few) / 2;
    const bool is_enough = ads_shown_of_all(static_cast<double>(middle), events, turnover, weights) >= ads;
    (is_enough ? enough : too_few) = middle;
  }
  return enough;
}

}  // namespace

AdPlaces::AdPlaces(std::uint64_t events, std::uint64_t ads, double turnover, std::uint64_t seed)
    : events_(events),
      turnover_(turnover),
      seed_(seed),
      weights_(falling_weights()),
      topics_(topics_for(static_cast<double>(ads) / kShownInSpiteOfPages, static_cast<double>(events), turnover,
                         weights_)) {}

std::uint64_t AdPlaces::draw_topic(Random& random) const {
  const double at = topic_part(random.unit()) * static_cast<double>(topics_);
  return std::min(static_cast<std::uint64_t>(at), topics_ - 1);
}

unsigned AdPlaces::draw_rank(Random& random) const {
  double left = random.unit();
  unsigned rank = 0;
  while (rank + 1 < kRanks && left >= weights_[rank]) left -= weights_[rank++];
  return rank;
}

std::uint64_t AdPlaces::ad_at(AdPlace place, std::uint64_t event) const {
  const std::uint64_t number = place.rank * (topics_ + 1) + place.topic;
  const bool stays = place.topic == topics_ && place.rank == 0;  // the most frequent ad of all
  Random random(seed_, kPlacePurpose, number);
  const double pace = turnover_ * (kLeastPace + random.unit());
  const double time = static_cast<double>(event) / static_cast<double>(events_);
  const auto changes = stays ? 0 : static_cast<std::uint64_t>(pace * time + random.unit());
  return changes * kRanks * (topics_ + 1) + number;
}

}  // namespace cpt
