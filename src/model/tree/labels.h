// The label dictionary: names of labels and their ids, which are given in the order of leaf_split.
#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

#include "cpt/example.h"

namespace cpt {

// The id that no label has.
inline constexpr LabelId kNoLabel = 0xffffffffU;

// Ids 0 .. size() - 1 in the order of add(). Reading from several threads is safe while nobody adds.
class LabelDictionary {
 public:
  LabelDictionary();

  std::size_t size() const { return hashes_.size(); }
  // kNoLabel if the name has not been added. `hash` is hash_label(name).
  LabelId find(std::string_view name, std::uint64_t hash) const;
  // What find() looks at lies in three places, each found by what is in the one before. These ask the memory for them
  // in turn, so that find() need not wait; likely() is what it will nearly always find.
  void prefetch_slot(std::uint64_t hash) const { __builtin_prefetch(&slots_[hash & (slots_.size() - 1)]); }
  LabelId likely(std::uint64_t hash) const;
  void prefetch_ends(LabelId id) const { __builtin_prefetch(&ends_[id]); }
  void prefetch_name(LabelId id) const { __builtin_prefetch(name(id).data()); }
  // The name must be new. Throws Error(kFailed) when ids run out.
  LabelId add(std::string_view name, std::uint64_t hash);
  // Valid until the next add().
  std::string_view name(LabelId id) const;
  // A digest of all names in order; grows with every add().
  std::uint64_t digest() const { return digest_; }
  // Of memory that it holds.
  std::uint64_t bytes() const;

 private:
  void grow();
  void place(LabelId id);

  std::vector<char> text_;
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
