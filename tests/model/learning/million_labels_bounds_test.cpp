// The statements on trees of a million labels.
#include <gtest/gtest.h>

#include <algorithm>
#include <numeric>

#include "model/grown_tree.h"
#include "model/tree/bounds.h"

namespace cpt {
namespace {

class AMillionLabels : public testing::TestWithParam<Growth> {};

TEST_P(AMillionLabels, KeepClaim1AndAllBoundsOnTheTree) {
  const auto [alpha, opinion, labels] = GetParam();
  const GrownTree grown = grow(GetParam());
  ASSERT_EQ(grown.tree.labels(), labels);

  const double k = kappa(alpha);
  double heaviest = 0;
  visit_nodes(grown.tree, [&](std::uint32_t left, std::uint32_t right) {
    heaviest = std::max(heaviest, (std::max(left, right) - 1) / (k * (left + right - 1)));
  });
  EXPECT_LE(heaviest, 1 + 1e-12);

  const Depths of = depths(grown.tree);
  EXPECT_LE(of.greatest, depth_bound(labels, alpha));
  EXPECT_LE(static_cast<double>(of.sum), total_depth_bound(labels, alpha));

  const auto disagreements = std::accumulate(grown.disagreements.begin(), grown.disagreements.end(), std::uint64_t{0});
  EXPECT_LE(static_cast<double>(disagreements), disagreement_bound(labels, alpha));
}

constexpr std::size_t kMillion = 1'000'000;

INSTANTIATE_TEST_SUITE_P(Growths, AMillionLabels,
                         testing::Values(Growth{0.05, Opinion::kCoin, kMillion}, Growth{0.1, Opinion::kCoin, kMillion},
                                         Growth{0.3, Opinion::kLarger, kMillion},
                                         Growth{0.6, Opinion::kNearestShuffled, kMillion},
                                         Growth{0.9, Opinion::kDeepest, kMillion},
                                         Growth{1.0, Opinion::kLarger, kMillion}));

}  // namespace
}  // namespace cpt
