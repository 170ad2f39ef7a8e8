#include "train/partitioned/example/shared_example_ring.h"

#include <algorithm>
#include <cstring>
#include <new>

#include "core/checked.h"
#include "cpt/error.h"
#include "train/partitioned/example/packed_bytes.h"

namespace cpt {

namespace {

constexpr std::size_t kBytesAhead = 2048;

constexpr std::size_t kUnit = ExampleRecord::kAlignment;  // places are multiples of it

// What lies before the record of an example.
struct Head {
  std::uint64_t order;
  std::uint32_t slot;
  LabelId label;
  Partition level1;
  Partition deep;
  std::uint32_t unused;
};
static_assert(sizeof(Head) % kUnit == 0);

}  // namespace

// What lies there is from rounds ago, and in the caches of the ranks that have read it: a write would wait until they
// have let go of it. On x86 only an instruction of its own asks them to (processors that do not know it pass over it).
#ifdef __x86_64__
[[gnu::target("prfchw")]]
#endif
void SharedExampleRing::prefetch_room(std::size_t bytes) const {
  const Bytes room = rooms_.left();
  if (room.size() < kBytesAhead + bytes) return;
  const std::byte* ahead = room.data() + kBytesAhead;
  for (std::size_t at = 0; at < bytes; at += 64) __builtin_prefetch(ahead + at, 1);
}

std::uint32_t SharedExampleRing::put(const RoutedExample& head, const ExampleView& x,
                                     std::span<const std::uint8_t> places, std::string_view name) {
  // All are looked at: nobody can guess which is the first that is not 1.
  bool plain = true;
  for (const float value : x.values) plain &= value == 1;
  const ExampleRecord::Shape shape{.features = x.features.size(),
                                   .with_values = !plain,
                                   .places = places.size(),
                                   .label_bytes = name.size(),
                                   .importance = x.importance};
  const std::size_t bytes = sizeof(Head) + ExampleRecord::bytes(shape);
  prefetch_room(bytes);
  std::byte* at = rooms_.take(bytes);
  if (at == nullptr) return kNoPlace;
  new (at) Head{head.order, head.slot, head.label, head.level1, head.deep, 0};
  const RecordSpace record = ExampleRecord::begin(shape, at + sizeof(Head));
  std::memcpy(record.features, x.features.data(), x.features.size_bytes());
  if (record.values != nullptr) std::memcpy(record.values, x.values.data(), x.values.size_bytes());
  put_bytes(record.places, places.data(), places.size());
  put_bytes(record.label, name.data(), name.size());
  return narrow<std::uint32_t>(rooms_.offset_of(at) / kUnit, "the place of an example");
}

void SharedExampleRing::prefetch(ConstBytes shelf, std::uint32_t place) {
  __builtin_prefetch(shelf.data() + place * kUnit);
}

void SharedExampleRing::get(ConstBytes shelf, std::uint32_t place, RoutedExample& arrival) {
  const std::size_t offset = place * kUnit;
  if (offset + sizeof(Head) + ExampleRecord::kLeastBytes > shelf.size()) {
    throw Error(Fault::kFailed, "a message tells of an example that is not there");
  }
  const std::byte* at = shelf.data() + offset;
  const Head& head = *reinterpret_cast<const Head*>(at);
  if (!is_partition_or_none(head.level1) || !is_partition_or_none(head.deep)) {
    throw Error(Fault::kFailed, "a shelf tells of a partition that does not exist");
  }
  arrival.order = head.order;
  arrival.slot = head.slot;
  arrival.label = head.label;
  arrival.level1 = head.level1;
  arrival.deep = head.deep;
  arrival.example = ExampleRecord(at + sizeof head);
}

}  // namespace cpt
