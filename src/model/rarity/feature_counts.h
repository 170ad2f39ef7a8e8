// How rare the features of examples are.
//
// The rarity of a feature i is log2(N + 2) - log2(n_i + 1), where n_i is the sum of x_i^2 over the N examples learned
// up to the last renewal. Renewals are at positions of the stream, so every rank knows the same rarities for the same
// example, however many ranks there are, and a run that resumes goes on with them.
//
// Counting takes a quarter as long as learning. So of a long interval between renewals only the first quarter of the
// examples is counted, each example four times. That changed no log loss by more than 0.1 percent (rcv1, nvd, web-ads,
// novels).
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "core/zeroed_memory.h"
#include "cpt/example.h"
#include "model/rarity/scaled_example.h"

namespace cpt {

// Growth of a feature's count. Growth beyond 32 bits is split over several.
struct CountedFeature {
  std::uint32_t index;  // in the table
  std::uint32_t units;
};

// Examples between one renewal and the next: a tenth of those before, `examples`, and at least 100.
constexpr std::uint64_t renewal_interval(std::uint64_t examples) { return std::max<std::uint64_t>(100, examples / 10); }
// How many times each of the first counted_examples() of an interval counts; the examples after them do not count.
constexpr std::uint64_t counted_times(std::uint64_t interval) { return interval < 4096 ? 1 : 4; }
constexpr std::uint64_t counted_examples(std::uint64_t interval) { return interval / counted_times(interval); }

// The counts, in a table of 2^bits entries, indexed by the feature's hash; features with the same index share an entry.
// Not thread-safe, but several threads may read while none writes.
class FeatureCounts {
 public:
  // n_i is kept in whole units, so that sums are the same in any order. It stops growing at kMostUnits, and one example
  // adds at most 2^26 (as a value of 16 does, four times).
  static constexpr int kUnitBits = 16;
  static constexpr std::uint64_t kUnitsOfOne = std::uint64_t{1} << kUnitBits;
  static constexpr std::uint64_t kMostUnits = std::uint64_t{1} << 62;
  static constexpr int kMostBits = 22;

  // No table, and no rarities, unless `used`.
  FeatureCounts(bool used, int bits);

  bool used() const { return units_ != nullptr; }
  std::uint64_t size() const { return std::uint64_t{1} << bits_; }
  // Reserved; the system provides them as they are written.
  std::uint64_t bytes() const { return used() ? bytes_of(bits_) : 0; }
  static constexpr std::uint64_t bytes_of(int bits) {
    return (sizeof(std::uint8_t) + sizeof(std::uint32_t) + sizeof(std::uint64_t)) << std::min(bits, kMostBits);
  }

  // Where the table lies.
  std::vector<std::span<std::byte>> memory();

  // The rarities of the features, as of the last renewal.
  void look_up(std::span<const FeatureHash> features, std::vector<Rarity>& rarities) const;
  static constexpr int kStepsPerBit = 8;
  void prefetch(const ExampleView& x) const {
    for (const FeatureHash feature : x.features) __builtin_prefetch(&renewed_[index(feature)]);
  }

  // Whether this feature, or one with the same entry, was counted before the last sync point or renewal. Needs used().
  bool has_counted(FeatureHash feature) const { return units_[index(feature)] > 0; }

  // Says how many examples came since the last renewal, which decides whether and how often the next ones are counted.
  // Until the first call, every example is counted once.
  void update_counting(std::uint64_t examples_since_renewal);
  // Counts an example that is learned. It enters the rarities at the next renewal.
  void add(std::span<const FeatureHash> features, std::span<const float> values);
  // Examples up to the last renewal, N, and since then.
  std::uint64_t examples() const { return examples_; }
  std::uint64_t examples_since() const { return all_examples_ - examples_; }
  // At least one: how many examples may come before update_counting() or renew_if_due() has something to do.
  std::uint64_t examples_until_change() const;

  // Ranks add up what they have counted: take_added() on each; one rank add()s what all took of a feature, and takes
  // the sum; then each grow()s by the sums, and by the examples of the others.
  struct Added {
    std::vector<CountedFeature> features;
    std::uint64_t examples = 0;
  };
  // What was added since the last call. It is no longer part of these counts.
  Added take_added();
  void add(std::span<const CountedFeature> counted);
  void grow(std::span<const CountedFeature> sums);
  void grow(std::uint64_t examples);
  // Takes all counts over into the rarities.
  void renew();
  // renew(), if renewal_interval() examples were counted since the last time.
  void renew_if_due();

  std::uint64_t digest() const;

  // One entry as it is saved and loaded. `renewed` does not include what was added to `units` since the last renewal.
  struct Stored {
    std::uint32_t index;
    std::uint64_t units;
    std::uint8_t renewed;  // log2(n_i + 1) at the last renewal, in steps, rounded
  };
  std::vector<Stored> stored() const;  // all that were ever added to, by ascending index
  struct Examples {
    std::uint64_t renewed = 0;
    std::uint64_t all = 0;
  };
  Examples stored_examples() const { return {examples_, all_examples_}; }
  void restore(const Stored& entry);
  void restore(const Examples& examples);

 private:
  static std::uint64_t index(FeatureHash feature, int bits) { return (feature * 0x9e3779b97f4a7c15ULL) >> (64 - bits); }
  std::uint64_t index(FeatureHash feature) const { return index(feature, bits_); }
  void take_occurrences();
  void grow(const CountedFeature& sum);
  template <class Visit>
  void take_added(Visit visit);
  template <class Visit>
  void for_each_stored(Visit visit) const;
  void set_examples(std::uint64_t examples);

  int bits_;
  // By entry of the table. Separate arrays, because every example looks up renewed_ for all its features, but not the
  // others.
  ZeroedArray<std::uint8_t> renewed_;  // log2(n_i + 1) at the last renewal, in steps
  ZeroedArray<std::uint32_t> added_;   // units since take_added() or renew(), without those spilled
  ZeroedArray<std::uint64_t> units_;   // without those added; at most kMostUnits

  std::vector<CountedFeature> occurrences_;  // not in added_ yet: added many at a time, to hide the latency of memory
  std::vector<std::uint32_t> touched_;       // entries with units added; may repeat
  std::vector<CountedFeature> spilled_;      // units that left no room in added_
  std::vector<std::uint32_t> stale_;         // entries of units_ changed since renew(); may repeat
  std::uint32_t times_ = 1;                  // how often each example is counted; 0: not at all
  std::uint64_t examples_ = 0;
  std::uint64_t all_examples_ = 0;
  std::uint64_t examples_added_ = 0;  // of all_examples_, since take_added()
  int renewed_examples_ = 0;          // log2(N + 2), in steps
};

}  // namespace cpt
