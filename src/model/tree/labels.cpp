#include "model/tree/labels.h"

#include "cpt/error.h"
#include "cpt/hashing.h"

namespace cpt {

namespace {
constexpr std::size_t kFirstSlots = 1024;

std::uint32_t tag_of(std::uint64_t hash) { return static_cast<std::uint32_t>(hash >> 32); }
}  // namespace

LabelDictionary::LabelDictionary() : slots_(kFirstSlots) {}

LabelId LabelDictionary::find(std::string_view name, std::uint64_t hash) const {
  const std::size_t mask = slots_.size() - 1;
  for (std::size_t at = hash & mask;; at = (at + 1) & mask) {
    const Slot slot = slots_[at];
    if (slot.id == kNoLabel) return kNoLabel;
    if (slot.tag == tag_of(hash) && this->name(slot.id) == name) return slot.id;
  }
}

LabelId LabelDictionary::likely(std::uint64_t hash) const {
  const std::size_t mask = slots_.size() - 1;
  std::size_t at = hash & mask;
  while (slots_[at].id != kNoLabel && slots_[at].tag != tag_of(hash)) at = (at + 1) & mask;
  return slots_[at].id;
}

LabelId LabelDictionary::add(std::string_view name, std::uint64_t hash) {
  if (size() >= kMostLabels) throw Error(Fault::kFailed, "more than 2^30 labels");
  if (2 * (size() + 1) > slots_.size()) grow();
  const auto id = static_cast<LabelId>(size());
  text_.insert(text_.end(), name.begin(), name.end());
  ends_.push_back(text_.size());
  hashes_.push_back(hash);
  digest_ = mix(digest_ + hash);
  insert(id);
  return id;
}

std::string_view LabelDictionary::name(LabelId id) const {
  const std::uint64_t begin = id == 0 ? 0 : ends_[id - 1];
  return {text_.data() + begin, ends_[id] - begin};
}

std::uint64_t LabelDictionary::bytes() const {
  return text_.capacity() + (ends_.capacity() + hashes_.capacity()) * sizeof(std::uint64_t) +
         slots_.capacity() * sizeof(Slot);
}

void LabelDictionary::grow() {
  slots_.assign(slots_.size() * 2, {});
  for (LabelId id = 0; id < hashes_.size(); ++id) insert(id);
}

void LabelDictionary::insert(LabelId id) {
  const std::size_t mask = slots_.size() - 1;
  std::size_t at = hashes_[id] & mask;
  while (slots_[at].id != kNoLabel) at = (at + 1) & mask;
  slots_[at] = {id, tag_of(hashes_[id])};
}

}  // namespace cpt
