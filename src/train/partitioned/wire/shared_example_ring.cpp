#include "train/partitioned/wire/shared_example_ring.h"

#include "core/checked.h"

namespace cpt {

namespace {

constexpr std::size_t kBytesAhead = 2048;

}  // namespace

void SharedExampleRing::begin_round() {
  round_ = (round_ + 1) % kRounds;
  const Bytes all = window_.mine();
  left_ = all.empty() ? all : all.subspan(round_ * bytes_of_round_, bytes_of_round_);
}

// The memory ahead holds examples of an old round, and is in the caches of the ranks that have read them: a write would
// wait until they have let go of it. On x86 only prefetchw requests that (processors that do not know it ignore it).
#ifdef __x86_64__
[[gnu::target("prfchw")]]
#endif
void SharedExampleRing::prefetch_room(std::size_t bytes) const {
  if (left_.size() < kBytesAhead + bytes) return;
  const std::byte* ahead = left_.data() + kBytesAhead;
  for (std::size_t at = 0; at < bytes; at += 64) __builtin_prefetch(ahead + at, 1);
}

std::uint32_t SharedExampleRing::put(const RoutedExample& head, const ExampleView& x,
                                     std::span<const std::uint8_t> path, std::string_view name) {
  const ExampleRecord::Shape shape = ExampleRecord::shape_of(x, path, name);
  const std::size_t bytes = routed_bytes(shape);
  prefetch_room(bytes);
  if (bytes > left_.size()) left_ = {};
  if (left_.empty()) return kNoOffset;
  std::byte* const at = left_.data();
  left_ = left_.subspan(bytes);
  write_routed(head, shape, x, path, name, at);
  const auto offset = static_cast<std::size_t>(at - window_.mine().data());
  return narrow<std::uint32_t>(offset / ExampleRecord::kAlignment, "the offset of an example");
}

}  // namespace cpt
