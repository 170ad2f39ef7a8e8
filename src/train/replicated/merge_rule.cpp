#include "train/replicated/merge_rule.h"

#include <algorithm>
#include <array>
#include <cmath>

namespace cpt {

namespace {

// Weights of the ranks' changes and a common factor: merged = before + factor * sum(weight_r * delta_r).
struct Combination {
  double factor = 0;
  double growth = 0;
};

double growth_of(const Row& before, const Row& now) {
  return static_cast<double>(now[0]) - static_cast<double>(before[0]);
}

template <class WeightOf>
Row combine(const Row& before, std::span<const RowOfRank> now, Combination how, WeightOf weight_of) {
  std::array<double, kLanes> sum{};
  for (RowOfRank row : now) {
    const double weight = weight_of(*row);
    for (std::size_t s = 1; s < kLanes; ++s) {
      sum[s] += weight * (static_cast<double>((*row)[s]) - static_cast<double>(before[s]));
    }
  }
  Row merged;
  merged[0] = static_cast<float>(static_cast<double>(before[0]) + how.growth);
  for (std::size_t s = 1; s < kLanes; ++s) {
    merged[s] = static_cast<float>(static_cast<double>(before[s]) + how.factor * sum[s]);
  }
  return merged;
}

}  // namespace

Row merge_row(MergeRule rule, const Row& before, std::span<const RowOfRank> now, int ranks, double unit) {
  double growth = 0;
  for (RowOfRank row : now) growth += growth_of(before, *row);
  if (rule == MergeRule::kAverage) {
    return combine(before, now, {1.0 / ranks, growth / ranks}, [](const Row&) { return 1.0; });
  }
  if (now.size() == 1) return *now.front();
  if (growth <= 0) {
    // The accumulators are too large to feel these changes, as those of frequent features are after 2^24 updates; so
    // nothing tells the ranks apart.
    return combine(before, now, {1.0 / static_cast<double>(now.size()), 0}, [](const Row&) { return 1.0; });
  }
  const auto confidence = [&](const Row& row) { return growth_of(before, row); };
  if (rule == MergeRule::kConfidence) return combine(before, now, {1 / growth, growth}, confidence);

  // (1 - exp(-C)) / sum(c (1 - exp(-c))), by expm1 because c is often tiny.
  double denominator = 0;
  for (RowOfRank row : now) {
    const double c = confidence(*row) / unit;
    denominator += c * -std::expm1(-c);
  }
  if (denominator <= 0) return combine(before, now, {1 / growth, growth}, confidence);
  const double factor = -std::expm1(-growth / unit) / denominator / unit;
  return combine(before, now, {factor, growth}, confidence);
}

bool is_finite(const Row& row) {
  return std::all_of(row.begin(), row.end(), [](float value) { return std::isfinite(value); });
}

}  // namespace cpt
