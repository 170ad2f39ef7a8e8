#include "cpt/example.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "cpt/hashing.h"

namespace cpt {
namespace {

using Pairs = std::vector<std::pair<FeatureHash, float>>;

void add(Batch& batch, const Pairs& features, std::string_view label = "y", float importance = 1, Origin origin = {}) {
  for (const auto& [feature, value] : features) batch.add_feature(feature, value);
  batch.finish_example(label, importance, origin);
}

Pairs features_of(const ExampleView& view) {
  Pairs features;
  for (std::size_t i = 0; i < view.features.size(); ++i) features.emplace_back(view.features[i], view.values[i]);
  return features;
}

Pairs built(const Pairs& features, Normalize normalize = Normalize::kNone) {
  Batch batch(normalize);
  add(batch, features);
  return features_of(batch[0]);
}

TEST(Batch, PutsTheConstantFirstAndSortsTheRest) {
  EXPECT_EQ(built({{9, 1.5F}, {3, -2}}), (Pairs{{kConstantFeature, 1}, {3, -2}, {9, 1.5F}}));
  EXPECT_EQ(built({}), (Pairs{{kConstantFeature, 1}}));
}

TEST(Batch, AddsUpRepeatedFeaturesAndDropsZeros) {
  EXPECT_EQ(built({{5, 1}, {3, 2}, {5, 0.5F}, {7, 0}, {8, 1}, {8, -1}}),
            (Pairs{{kConstantFeature, 1}, {3, 2}, {5, 1.5F}}));
}

TEST(Batch, HasOneConstantWhateverTheInput) {
  EXPECT_EQ(built({{kConstantFeature, 5}, {3, 2}}), (Pairs{{kConstantFeature, 1}, {3, 2}}));
}

TEST(Batch, KeepsSumsInRange) {
  EXPECT_EQ(built({{5, 1e30F}, {5, 1e30F}, {6, -1e30F}, {6, -1e30F}}),
            (Pairs{{kConstantFeature, 1}, {5, 1e30F}, {6, -1e30F}}));
}

TEST(Batch, DoesNotDependOnTheOrderOfFeatures) {
  Pairs features = {{1, 1e8F}, {1, 1}, {1, -1e8F}, {2, 0.1F}, {2, 0.2F}, {2, 0.3F}, {3, 7}};
  std::sort(features.begin(), features.end());
  const Pairs expected = built(features);
  while (std::next_permutation(features.begin(), features.end())) ASSERT_EQ(built(features), expected);
}

// std::sort needs an order of all values, and is used where many of them repeat a feature.
TEST(Batch, KeepsNaNsAmongManyValuesOfAFeature) {
  Pairs features;
  for (int i = 0; i < 500; ++i) features.emplace_back(3, i % 3 == 0 ? NAN : static_cast<float>(-i));
  for (int i = 0; i < 500; ++i) features.emplace_back(5, static_cast<float>(-i));
  const Pairs summed = built(features);
  ASSERT_EQ(summed.size(), 3U);
  EXPECT_TRUE(std::isnan(summed[1].second));
  EXPECT_EQ(summed[2], (std::pair<FeatureHash, float>{5, -124750.0F}));
}

// Their order changes no sum.
TEST(Batch, DropsZerosOfEitherSign) {
  for (const Pairs& features : {Pairs{{3, 0.0F}, {3, -0.0F}, {5, 1}}, Pairs{{3, -0.0F}, {3, 0.0F}, {5, 1}, {5, -0.0F}},
                                Pairs{{5, 0.0F}, {5, -0.0F}, {5, 1}, {3, -0.0F}}}) {
    EXPECT_EQ(built(features), (Pairs{{kConstantFeature, 1}, {5, 1}}));
  }
}

TEST(Batch, ScalesToLengthOneBesidesTheConstant) {
  EXPECT_EQ(built({{1, 3}, {2, -4}}, Normalize::kL2), (Pairs{{kConstantFeature, 1}, {1, 0.6F}, {2, -0.8F}}));
  EXPECT_EQ(built({{1, 1e30F}}, Normalize::kL2), (Pairs{{kConstantFeature, 1}, {1, 1}}));
  EXPECT_EQ(built({{1, 1e-30F}}, Normalize::kL2), (Pairs{{kConstantFeature, 1}, {1, 1}}));
  EXPECT_EQ(built({}, Normalize::kL2), (Pairs{{kConstantFeature, 1}}));
}

TEST(Batch, KeepsLabelImportanceAndOrigin) {
  Batch batch;
  add(batch, {{1, 1}}, "first", 2.5F, {3, 4});
  add(batch, {}, "", 1, {5, std::uint64_t{1} << 40});
  ASSERT_EQ(batch.size(), 2U);
  EXPECT_EQ(batch[0].label, "first");
  EXPECT_EQ(batch[0].label_hash, hash_label("first"));
  EXPECT_EQ(batch[0].importance, 2.5F);
  EXPECT_EQ(batch[0].origin.shard, 3U);
  EXPECT_EQ(batch[0].origin.line, 4U);
  EXPECT_EQ(batch[1].label, "");
  EXPECT_EQ(batch[1].origin.line, std::uint64_t{1} << 40);
}

TEST(Batch, DiscardLeavesNothing) {
  Batch batch;
  add(batch, {{1, 1}}, "kept");
  batch.add_feature(2, 2);
  EXPECT_EQ(batch.open_features(), 1U);
  EXPECT_EQ(batch.open_feature(0), 2U);
  EXPECT_EQ(batch.open_value(0), 2.0F);
  batch.discard_example();
  EXPECT_EQ(batch.open_features(), 0U);
  add(batch, {{3, 3}}, "next");
  ASSERT_EQ(batch.size(), 2U);
  EXPECT_EQ(features_of(batch[1]), (Pairs{{kConstantFeature, 1}, {3, 3}}));
}

TEST(Batch, ClearedIsAsNew) {
  Batch batch;
  add(batch, {{1, 1}}, "old");
  batch.add_feature(2, 2);
  batch.clear();
  EXPECT_TRUE(batch.empty());
  add(batch, {{3, 3}}, "new");
  EXPECT_EQ(batch.size(), 1U);
  EXPECT_EQ(batch[0].label, "new");
  EXPECT_EQ(features_of(batch[0]), (Pairs{{kConstantFeature, 1}, {3, 3}}));
}

// For every size at which features are ordered in another way, and for hashes that are spread evenly or collide. The
// values are integers, so the order of adding does not matter, and some sums are 0.
TEST(Batch, AgreesWithAMapForAnyNumberOfFeaturesAndAnyHashes) {
  Batch batch;
  for (std::uint64_t size = 0; size < 700; size < 220 ? ++size : size += 97) {
    for (const FeatureHash kept : {~FeatureHash{0}, FeatureHash{7}, FeatureHash{7} << 61, FeatureHash{0xff} << 50}) {
      std::map<FeatureHash, float> sums;
      for (std::uint64_t i = 0; i < size; ++i) {
        const FeatureHash feature = mix(size * 1000 + i) & kept;
        const float value = static_cast<float>(i % 8) - 3;
        batch.add_feature(feature, value);
        sums[feature] += value;
      }
      std::erase_if(sums, [](const auto& entry) { return entry.second == 0; });
      batch.finish_example("y", 1, {});
      Pairs pairs = features_of(batch[batch.size() - 1]);
      ASSERT_EQ(pairs.front(), Pairs::value_type(kConstantFeature, 1));
      pairs.erase(pairs.begin());
      ASSERT_EQ(pairs, Pairs(sums.begin(), sums.end())) << size << ", " << kept;
    }
  }
}

TEST(Batch, AgreesWithItselfInReverseOrderIfHashesFallTogether) {
  Pairs features;
  for (FeatureHash i = 0; i < 5000; ++i) features.emplace_back(5000 - i, 1.0F);
  const Pairs backwards(features.rbegin(), features.rend());
  EXPECT_EQ(built(features), built(backwards));
}

TEST(ExampleView, SquaredLengthCountsTheConstant) {
  Batch batch;
  add(batch, {{1, 3}, {2, -4}});
  EXPECT_EQ(batch[0].squared_length(), 26.0);
}

}  // namespace
}  // namespace cpt
