// The label dictionary: the names of labels and their ids.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>
#include <vector>

#include "cpt/example.h"

namespace cpt {

// The id that no label has.
inline constexpr LabelId kNoLabel = 0xffffffffU;

// A Child of the tree keeps its kind in two of its 32 bits, so ids have thirty.
inline constexpr std::size_t kMostLabels = std::size_t{1} << 30;

// Labels have the ids 0 .. size() - 1 in the order of add(). Several threads may read while none adds.
class LabelDictionary {
 public:
  LabelDictionary();

  std::size_t size() const { return hashes_.size(); }
  // Returns kNoLabel if the name has not been added. `hash` is hash_label(name).
  LabelId find(std::string_view name, std::uint64_t hash) const;
  // find() reads three addresses, each computed from the content of the one before. The functions below prefetch them
  // in turn, some time before find() is called. likely() is the id that find() will almost always return, found by the
  // hash alone.
  void prefetch_slot(std::uint64_t hash) const { __builtin_prefetch(&slots_[hash & (slots_.size() - 1)]); }
  LabelId likely(std::uint64_t hash) const;
  void prefetch_ends(LabelId id) const { __builtin_prefetch(&ends_[id]); }
  void prefetch_name(LabelId id) const { __builtin_prefetch(name(id).data()); }
  // The name must be new. Throws Error(kFailed) if there are no ids left.
  LabelId add(std::string_view name, std::uint64_t hash);
  // Valid until the next add().
  std::string_view name(LabelId id) const;
  // A digest of all names in order, kept up to date by add().
  std::uint64_t digest() const { return digest_; }
  // Memory held.
  std::uint64_t bytes() const;

 private:
  void grow();
  void insert(LabelId id);

  std::vector<char> text_;             // all names
  std::vector<std::uint64_t> ends_;    // name i is text_[ends_[i - 1] .. ends_[i])
  std::vector<std::uint64_t> hashes_;  // by id
  struct Slot {
    LabelId id = kNoLabel;
    std::uint32_t tag = 0;  // the upper half of the hash
  };
  std::vector<Slot> slots_;  // open addressing, a power of two, at most half full
  std::uint64_t digest_ = 0;
};

}  // namespace cpt
