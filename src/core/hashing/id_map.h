// Numbers for distinct keys.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "cpt/hashing.h"

namespace cpt {

inline std::uint64_t hash_of(std::uint64_t key) { return key; }

// Keys get the numbers 0, 1, ... in the order in which they are first added. There are millions of look-ups, so this is
// a table of numbers that fits into the cache, instead of nodes that do not. Key needs == and std::uint64_t
// hash_of(key). Not thread-safe.
template <class Key>
class IdMap {
 public:
  static constexpr std::uint32_t kNone = ~std::uint32_t{0};

  IdMap() { clear(); }

  // The number of a key, or kNone.
  std::uint32_t find(const Key& key) const { return slots_[slot_of(key)]; }
  // The same; a new key gets the next number.
  std::uint32_t add(const Key& key) {
    if (2 * (keys_.size() + 1) > slots_.size()) grow();
    std::uint32_t& slot = slots_[slot_of(key)];
    if (slot == kNone) {
      slot = static_cast<std::uint32_t>(keys_.size());
      keys_.push_back(key);
    }
    return slot;
  }

  const std::vector<Key>& keys() const { return keys_; }  // by number
  std::size_t size() const { return keys_.size(); }
  void clear() {
    keys_.clear();
    slots_.assign(kFirstSlots, kNone);
  }

 private:
  static constexpr std::size_t kFirstSlots = 64;

  // The slot of the key, or the free one where it belongs.
  std::size_t slot_of(const Key& key) const {
    const std::size_t mask = slots_.size() - 1;
    std::size_t slot = mix(hash_of(key)) & mask;
    while (slots_[slot] != kNone && !(keys_[slots_[slot]] == key)) slot = (slot + 1) & mask;
    return slot;
  }
  void grow() {
    slots_.assign(2 * slots_.size(), kNone);
    for (std::uint32_t number = 0; number < keys_.size(); ++number) slots_[slot_of(keys_[number])] = number;
  }

  std::vector<Key> keys_;
  std::vector<std::uint32_t> slots_;  // their number is a power of two; at most half are taken
};

}  // namespace cpt
