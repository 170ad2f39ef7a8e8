// How often features were seen, and how rare they are.
#include "model/rarity/feature_counts.h"

#include <gtest/gtest.h>

#include <cmath>
#include <map>

#include "model/random_stream.h"

namespace cpt {
namespace {

Batch one_example(const std::vector<std::pair<FeatureHash, float>>& features) {
  Batch batch;
  for (const auto& [feature, value] : features) batch.add_feature(feature, value);
  batch.finish_example("label", 1, {});
  return batch;
}

void add(FeatureCounts& counts, const ExampleView& x) { counts.add(x.features, x.values); }

std::vector<Rarity> rarities_of(const FeatureCounts& counts, const ExampleView& x) {
  std::vector<Rarity> rarities;
  counts.look_up(x.features, rarities);
  return rarities;
}

TEST(FeatureCounts, WithoutUseHaveNoTable) {
  const FeatureCounts counts(false, 20);
  EXPECT_FALSE(counts.used());
  EXPECT_EQ(counts.digest(), 0U);
  EXPECT_TRUE(counts.stored().empty());
}

TEST(FeatureCounts, MakeAllFeaturesEquallyRareAtFirst) {
  FeatureCounts counts(true, 12);
  const Batch x = one_example({{feature_number(1), 0.5F}, {feature_number(2), 3}});
  EXPECT_EQ(rarities_of(counts, x[0]), (std::vector<Rarity>{0, 8, 8}));
  add(counts, x[0]);
  EXPECT_EQ(rarities_of(counts, x[0]), (std::vector<Rarity>{0, 8, 8})) << "before the renewal";
}

// A table so large that no two of these features meet.
TEST(FeatureCounts, GiveTheRarityOfTheFormula) {
  const Batch stream = random_stream({.examples = 3000, .vocabulary = 40, .binary = false, .skew = 3});
  FeatureCounts counts(true, 22);
  std::map<FeatureHash, double> squares;
  std::size_t learned = 0;
  for (const std::size_t until : {1U, 17U, 800U, 3000U}) {
    for (; learned < until; ++learned) {
      const ExampleView x = stream[learned];
      add(counts, x);
      for (std::size_t f = 0; f < x.features.size(); ++f) {
        squares[x.features[f]] += std::pow(static_cast<double>(x.values[f]), 2);
      }
    }
    counts.renew();
    EXPECT_EQ(counts.examples(), until);
    for (std::size_t i = 0; i < stream.size(); i += 100) {
      const ExampleView x = stream[i];
      const std::vector<Rarity> rarities = rarities_of(counts, x);
      EXPECT_EQ(rarities[0], 0);  // of the constant feature
      for (std::size_t f = 1; f < x.features.size(); ++f) {
        const double bits = std::log2(static_cast<double>(until) + 2) - std::log2(squares[x.features[f]] + 1);
        EXPECT_NEAR(rarities[f], std::clamp(8 * bits, 1.0, 255.0), 1.01);
      }
    }
  }
}

FeatureCounts counted(const Batch& stream, std::size_t begin, std::size_t end) {
  FeatureCounts counts(true, 14);
  for (std::size_t i = begin; i < end; ++i) add(counts, stream[i]);
  return counts;
}

// Values of every size, so that some entries overflow their 32 bits.
Batch stream_of_large_values() {
  Dice dice(5);
  Batch batch;
  for (std::size_t i = 0; i < 4000; ++i) {
    for (std::size_t f = 0; f < 5; ++f) {
      const float sizes[] = {1e-9F, 0.01F, 1, 15, 1e30F};
      batch.add_feature(feature_number(dice.below(9)), sizes[dice.below(5)]);
    }
    batch.finish_example("label", 1, {});
  }
  return batch;
}

TEST(FeatureCounts, OfSeveralRanksAddUpToThoseOfOne) {
  const Batch stream = stream_of_large_values();
  FeatureCounts whole = counted(stream, 0, 4000);
  for (const std::vector<std::size_t>& cuts :
       std::vector<std::vector<std::size_t>>{{0, 4000}, {0, 1, 2000, 4000}, {0, 10, 700, 701, 3000, 4000}}) {
    std::vector<FeatureCounts> parts;
    std::vector<FeatureCounts::Added> added;
    for (std::size_t i = 1; i < cuts.size(); ++i) parts.push_back(counted(stream, cuts[i - 1], cuts[i]));
    for (FeatureCounts& part : parts) added.push_back(part.take_added());
    for (const FeatureCounts::Added& of_part : added) parts.front().add(of_part.features);
    const FeatureCounts::Added sums = parts.front().take_added();
    for (std::size_t i = 0; i < parts.size(); ++i) {
      parts[i].grow(sums.features);
      parts[i].grow(4000 - added[i].examples);
      EXPECT_EQ(parts[i].digest(), whole.digest()) << "before the renewal";
      EXPECT_EQ(parts[i].examples_since(), 4000U);
      parts[i].renew();
    }
    FeatureCounts renewed = counted(stream, 0, 4000);
    renewed.renew();
    for (const FeatureCounts& part : parts) {
      EXPECT_EQ(part.digest(), renewed.digest());
      for (std::size_t i = 0; i < 50; ++i) {
        EXPECT_EQ(rarities_of(part, stream[i]), rarities_of(renewed, stream[i]));
      }
    }
  }
}

// In the middle of an interval.
TEST(FeatureCounts, GoOnAsTheyWereStored) {
  const Batch stream = stream_of_large_values();
  FeatureCounts counts = counted(stream, 0, 1000);
  counts.renew();
  for (std::size_t i = 1000; i < 1500; ++i) add(counts, stream[i]);
  FeatureCounts restored(true, 14);
  for (const FeatureCounts::Stored& entry : counts.stored()) restored.restore(entry);
  restored.restore(counts.stored_examples());
  EXPECT_EQ(restored.digest(), counts.digest());
  EXPECT_EQ(restored.examples(), 1000U);
  EXPECT_EQ(restored.examples_since(), 500U);
  for (FeatureCounts* each : {&counts, &restored}) {
    for (std::size_t i = 1500; i < 2000; ++i) {
      EXPECT_EQ(rarities_of(counts, stream[i]), rarities_of(restored, stream[i]));
      add(*each, stream[i]);
    }
    each->renew();
  }
  EXPECT_EQ(restored.digest(), counts.digest());
  for (std::size_t i = 0; i < 100; ++i) EXPECT_EQ(rarities_of(counts, stream[i]), rarities_of(restored, stream[i]));
}

TEST(FeatureCounts, TakeNoMemoryForValuesThatCountNothing) {
  FeatureCounts counts(true, 10);
  constexpr FeatureHash kFeatures[] = {7};
  constexpr float kValues[] = {1e-9F};
  for (int i = 0; i < 100'000; ++i) counts.add(kFeatures, kValues);
  const FeatureCounts::Added added = counts.take_added();
  EXPECT_EQ(added.examples, 100'000U);
  EXPECT_EQ(added.features.capacity(), 0U);
}

TEST(FeatureCounts, StopGrowingRatherThanOverflow) {
  FeatureCounts counts(true, 10);
  const Batch x = one_example({{feature_number(1), 1}});
  add(counts, x[0]);
  FeatureCounts::Added added = counts.take_added();
  for (CountedFeature& feature : added.features) {
    feature.units = 0xffffffff;
    counts.restore({.index = feature.index, .units = (std::uint64_t{1} << 62) - 1, .renewed = 0});
  }
  for (int i = 0; i < 2; ++i) counts.add(added.features);
  for (int i = 0; i < 2; ++i) counts.grow(added.features);
  counts.renew();
  EXPECT_EQ(counts.stored().size(), 2U);
  for (const FeatureCounts::Stored& entry : counts.stored()) EXPECT_EQ(entry.units, std::uint64_t{1} << 62);
  EXPECT_EQ(rarities_of(counts, x[0])[1], 1);
}

TEST(RenewalInterval, IsATenthAndAtLeastAHundred) {
  EXPECT_EQ(renewal_interval(0), 100U);
  EXPECT_EQ(renewal_interval(1000), 100U);
  EXPECT_EQ(renewal_interval(50'000'000), 5'000'000U);
}

}  // namespace
}  // namespace cpt
