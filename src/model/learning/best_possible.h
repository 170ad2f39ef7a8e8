// The paper's "best possible": the mean squared loss of who knows the frequencies of the very examples that are scored.
#pragma once

#include <cstddef>
#include <cstdint>
#include <unordered_map>

#include "cpt/example.h"

namespace cpt {

// Memory grows with the number of distinct (x, label). Not thread-safe.
class BestPossible {
 public:
  void add(const ExampleView& x);
  // The mean over all examples of (1 - n(x, label) / n(x))^2, where n counts those added with this x, and this x and
  // label. Like all means it is weighted by importance, and so are the counts. 0 if there are no examples. No method
  // can promise a loss as low: it knows labels before they come.
  double mean_squared() const;

 private:
  struct Pair {
    std::uint64_t key;
    std::uint64_t label_hash;
    bool operator==(const Pair&) const = default;
  };
  struct HashOfPair {
    std::size_t operator()(const Pair& pair) const;
  };

  std::unordered_map<Pair, double, HashOfPair> pairs_;
  std::unordered_map<std::uint64_t, double> keys_;
};

}  // namespace cpt
