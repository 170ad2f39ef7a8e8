// How often each label came with each x: what the method `table` knows.
#pragma once

#include <cstddef>
#include <cstdint>
#include <unordered_map>
#include <vector>

#include "cpt/example.h"

namespace cpt {

// Importance is counted in units of 2^-20, whole ones, so that sums are exact: they come out the same in whatever order
// and by how many ranks they are added up.
using Units = std::uint64_t;
inline constexpr float kUnitsPerImportance = 1 << 20;
// The nearest number of units, at least 1; an importance above 2^24 counts as 2^24.
Units units_of(float importance);

// Not thread-safe; const members may run in several threads. A pair is a key (see example_key()) and a label.
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

  // Adds to a pair. A sum that would exceed 64 bits stays at their end.
  void add(std::uint64_t key, LabelId label, Units units);

  // nullptr if the key was never added to.
  const Entry* find(std::uint64_t key) const;
  std::size_t keys() const { return entries_.size(); }
  std::uint64_t pairs() const { return pairs_; }
  std::vector<std::uint64_t> sorted_keys() const;
  // Of all pairs and their counts, whatever the order in which they were added; 0 where there are none.
  std::uint64_t digest() const { return digest_; }
  // Of memory that they hold, about: what the allocator adds is not known.
  std::uint64_t bytes() const;

 private:
  std::unordered_map<std::uint64_t, Entry> entries_;
  std::uint64_t pairs_ = 0;
  std::uint64_t digest_ = 0;
};

}  // namespace cpt
