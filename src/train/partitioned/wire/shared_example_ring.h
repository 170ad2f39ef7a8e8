// A rank's latest examples in memory that it shares with the ranks of its machine: each example is written once, and
// all its owners there read it in place.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>

#include "comm/shared/shared_window.h"
#include "core/checked.h"
#include "train/partitioned/wire/messages.h"

namespace cpt {

// Routed examples of the latest rounds. An example stays until kRounds more rounds have begun; by then no rank reads it
// any more (see messages.h).
class SharedExampleRing {
 public:
  static constexpr std::size_t kRounds = kRoundsKept;
  static constexpr std::size_t kBytesOfRound = std::size_t{2} << 20;

  // Collective. bytes_of_round: a multiple of ExampleRecord::kAlignment.
  explicit SharedExampleRing(Communicator& comm, std::size_t bytes_of_round = kBytesOfRound)
      : window_(comm, kRounds * bytes_of_round), bytes_of_round_(bytes_of_round) {}

  // Whether a rank reads this ring. This rank itself does, unless there is no shared memory.
  bool read_by(int rank) const { return window_.read_by(rank); }

  // Overwrites the examples of the oldest round from now on.
  void begin_round();
  // Writes an example; ignores head.example. Returns its offset in the ring, in units of 8 bytes, or kNoOffset if there
  // is no room, and then for all later examples of the round.
  std::uint32_t put(const RoutedExample& head, const ExampleRecord::Parts& parts);
  static constexpr std::uint32_t kNoOffset = 0xffffffffU;
  // Call this after the last put() of a round, before sending messages that name offsets.
  void publish() const { window_.publish(); }

  // The ring of a rank, after a message of that rank; empty where this rank does not read it.
  ConstBytes of(int rank) const { return window_.of(rank); }

 private:
  static constexpr std::size_t kBytesAhead = 2048;

  void prefetch_room(std::size_t bytes) const;

  SharedWindow window_;
  std::size_t bytes_of_round_;
  std::size_t round_ = 0;  // modulo kRounds
  Bytes left_;             // of the memory of this round
};

inline void SharedExampleRing::begin_round() {
  round_ = (round_ + 1) % kRounds;
  const Bytes all = window_.mine();
  left_ = all.empty() ? all : all.subspan(round_ * bytes_of_round_, bytes_of_round_);
}

// The memory ahead holds examples of an old round, and is in the caches of the ranks that have read them: a write would
// wait until they have let go of it. On x86 only prefetchw requests that (processors that do not know it ignore it).
#ifdef __x86_64__
[[gnu::target("prfchw")]]
#endif
inline void
SharedExampleRing::prefetch_room(std::size_t bytes) const {
  if (left_.size() < kBytesAhead + bytes) return;
  const std::byte* ahead = left_.data() + kBytesAhead;
  for (std::size_t at = 0; at < bytes; at += 64) __builtin_prefetch(ahead + at, 1);
}

inline std::uint32_t SharedExampleRing::put(const RoutedExample& head, const ExampleRecord::Parts& parts) {
  const ExampleRecord::Shape shape = ExampleRecord::shape_of(parts);
  const std::size_t bytes = routed_bytes(shape);
  prefetch_room(bytes);
  if (bytes > left_.size()) left_ = {};
  if (left_.empty()) return kNoOffset;
  std::byte* const at = left_.data();
  left_ = left_.subspan(bytes);
  write_routed(head, shape, parts, at);
  const auto offset = static_cast<std::size_t>(at - window_.mine().data());
  return narrow<std::uint32_t>(offset / ExampleRecord::kAlignment, "the offset of an example");
}

}  // namespace cpt
