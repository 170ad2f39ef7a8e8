// Where a rank lays the examples that it has read, so that owners on its machine read them in place: there they are
// written once and copied never, however many owners they have.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>

#include "train/partitioned/example/example_record.h"
#include "train/partitioned/shared_ring.h"
#include "train/partitioned/wire/partition_task.h"

namespace cpt {

// Records of the latest rounds. What is put stays until kRounds more rounds have begun; by then no rank reads it any
// more, see PartitionedLoop.
class SharedExampleRing {
 public:
  static constexpr std::size_t kRounds = 6;
  static constexpr std::size_t kBytesOfRound = std::size_t{2} << 20;

  // Collective. bytes_of_round: a multiple of ExampleRecord::kAlignment.
  explicit SharedExampleRing(Communicator& comm, std::size_t bytes_of_round = kBytesOfRound)
      : rooms_(comm, kRounds, bytes_of_round) {}

  // Whether a rank reads this shelf. This rank itself does, unless there is no memory for one.
  bool read_by(int rank) const { return rooms_.space().read_by(rank); }

  void begin_round() { rooms_.begin_next(); }
  // Lays an example down, and before it what `head` says of it (whose own example is of no matter). Returns its place:
  // the number of its first 8 bytes on the shelf; kNoPlace if there is no room, and then for no later example of the
  // round.
  std::uint32_t put(const RoutedExample& head, const ExampleView& x, std::span<const std::uint8_t> places,
                    std::string_view name);
  static constexpr std::uint32_t kNoPlace = 0xffffffffU;
  // Of all that was put, before messages that tell of it are sent.
  void publish() const { rooms_.space().publish(); }

  // The shelf of a rank, after a message of its; empty where this rank does not read it.
  ConstBytes of(int rank) const { return rooms_.space().of(rank); }
  // Asks the memory for what get() reads.
  static void prefetch(ConstBytes shelf, std::uint32_t place);
  // Reads what was put at a place. Throws Error(kFailed) where there is no such place.
  static void get(ConstBytes shelf, std::uint32_t place, RoutedExample& arrival);

 private:
  void prefetch_room(std::size_t bytes) const;

  SharedRing rooms_;
};

}  // namespace cpt
