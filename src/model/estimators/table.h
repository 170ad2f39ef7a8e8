// The paper's table: P(label | x) is the number of times the label came with exactly this x, as a fraction of the
// number of times x came. Frequencies holds the counts, TableEstimator predicts from them.
#pragma once

#include <cstddef>
#include <cstdint>
#include <unordered_map>
#include <vector>

#include "cpt/example.h"
#include "model/estimators/estimator.h"

namespace cpt {

// Identifies identical examples: a hash of the features of x, which are sorted, and of their values. Label and
// importance do not count. Different x have different keys, up to 64-bit collisions.
std::uint64_t example_key(const ExampleView& x);

// Importance is counted in whole units of 2^-20, so that sums are exact: they do not depend on the order of additions,
// or on the number of ranks that add.
using Units = std::uint64_t;
inline constexpr float kUnitsPerImportance = 1 << 20;
// The nearest number of units, at least 1; an importance above 2^24 counts as 2^24.
Units units_of(float importance);
// At most the largest 64-bit number.
constexpr Units saturating_sum(Units a, Units b) { return b > ~Units{0} - a ? ~Units{0} : a + b; }

// The counts by pairs of a key (see example_key()) and a label. Not thread-safe; const members may run in several
// threads.
class Frequencies {
 public:
  struct Count {
    LabelId label = 0;
    Units units = 0;
    bool operator==(const Count&) const = default;
  };
  struct Entry {
    Units total = 0;            // of all labels
    std::vector<Count> counts;  // by ascending label

    Units of(LabelId label) const;
  };

  // Adds to a pair. Sums saturate at the largest 64-bit number.
  void add(std::uint64_t key, LabelId label, Units units);

  // nullptr if nothing was added to the key.
  const Entry* find(std::uint64_t key) const;
  std::size_t keys() const { return entries_.size(); }
  std::uint64_t pairs() const { return pairs_; }
  std::vector<std::uint64_t> sorted_keys() const;
  // A digest of all pairs and their counts, whatever the order of additions; 0 if there are none.
  std::uint64_t digest() const { return digest_; }
  // Memory held, approximately: the allocator's overhead is unknown.
  std::uint64_t bytes() const;

 private:
  std::unordered_map<std::uint64_t, Entry> entries_;
  std::uint64_t pairs_ = 0;
  std::uint64_t digest_ = 0;
};

// Generalizes nothing: it says 0 for every label of an x that never came, and for labels that never came with x. The
// probabilities of all labels add up to 1 or are all 0. Has no weights and ignores `clip`.
class TableEstimator final : public FlatEstimator {
 public:
  // Borrows the frequencies too.
  TableEstimator(const Tree& tree, Frequencies& frequencies, const ModelOptions& options)
      : FlatEstimator(tree, options), frequencies_(&frequencies) {}

  void locate(const ScaledExample& x, LabelId label, PathState& path_state) const override;
  double predict(PathState& path_state) const override;
  // Counts the path state's label once more with x, with its importance.
  void train(PathState& path_state) override;
  std::vector<double> all_probabilities(const ScaledExample& x) const override;

 private:
  Frequencies* frequencies_;
};

}  // namespace cpt
