// What must hold of every method that estimates all labels at once.
#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <cstddef>
#include <numeric>
#include <vector>

#include "model/trained_model.h"

namespace cpt {

// The answers about one x agree with one another: each label's probability, the best labels in their order, a draw.
inline void expect_consistent(const Learner& learner, const ExampleView& x) {
  const std::vector<double> all = learner.all_probabilities(x);
  ASSERT_EQ(all.size(), learner.tree().labels());
  PathState path_state;
  for (LabelId label = 0; label < all.size(); ++label) {
    learner.locate(x, label, path_state);
    ASSERT_EQ(learner.predict(path_state), all[label]) << "label " << label;
  }
  const auto last_label = static_cast<LabelId>(all.size() - 1);
  const std::vector<LabelId> some{last_label, 0, last_label};
  ASSERT_EQ(learner.probabilities(x, some), (std::vector<double>{all[last_label], all[0], all[last_label]}));
  const std::vector<Ranked> best = learner.top_k(x, 7);
  ASSERT_EQ(best.size(), std::min<std::size_t>(7, all.size()));
  for (std::size_t i = 0; i < best.size(); ++i) {
    ASSERT_EQ(best[i].probability, all[best[i].label]);
    if (i == 0) continue;
    const bool in_order = best[i - 1].probability > best[i].probability ||
                          (best[i - 1].probability == best[i].probability && best[i - 1].label < best[i].label);
    ASSERT_TRUE(in_order) << "place " << i;
  }
  const double last = best.back().probability;
  ASSERT_LE(std::ranges::count_if(all, [&](double p) { return p > last; }), static_cast<std::ptrdiff_t>(best.size()));
  const std::vector<Ranked> likely = learner.top_k(x, all.size(), 0.05);
  ASSERT_EQ(static_cast<std::ptrdiff_t>(likely.size()), std::ranges::count_if(all, [](double p) { return p >= 0.05; }));
}

inline double sum_of(const std::vector<double>& probabilities) {
  return std::accumulate(probabilities.begin(), probabilities.end(), 0.0);
}

// Labels are drawn as often as their probabilities say.
inline void expect_draws(const Learner& learner, const ExampleView& x) {
  const std::vector<double> all = learner.all_probabilities(x);
  constexpr std::size_t kDraws = 20000;
  std::vector<double> drawn(all.size());
  Dice dice(5);
  for (std::size_t i = 0; i < kDraws; ++i) {
    const Ranked one = learner.draw(x, dice.bits()).front();
    ASSERT_EQ(one.probability, all.at(one.label));
    drawn[one.label] += 1.0 / kDraws;
  }
  // Six standard deviations of a frequency.
  for (std::size_t label = 0; label < all.size(); ++label) EXPECT_NEAR(drawn[label], all[label], 0.022) << label;
}

}  // namespace cpt
