// Where a rank lays what is too long to be sent at once, for those on its machine.
//
// MPI asks the receiver of a long message first, and again for every further part, and each answer waits until that
// rank looks up from its work: by then others wait for the message. (Measured, AMD EPYC, novels, two ranks of two
// cores, 2^20 lines: with this 1.02 to 1.03 times as fast.)
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>

#include "comm/buffer.h"
#include "train/partitioned/shared_ring.h"

namespace cpt {

// Messages of the latest steps of an PartitionedLoop.
class SharedMessageRing {
 public:
  // A message is read in the step after the one in which it was sent; when a rank lays one down in step m, all have
  // ended step m - 3: see PartitionedLoop.
  static constexpr std::size_t kSteps = 4;
  static constexpr std::size_t kBytesOfStep = std::size_t{1} << 20;
  // Open MPI sends up to 4096 at once, its head included, between processes of a machine, but may be told other and be
  // another MPI; to lay down some hundred bytes more costs nothing.
  static constexpr std::size_t kLeastBytes = 1024;

  // Collective.
  explicit SharedMessageRing(Communicator& comm, std::size_t bytes_of_step = kBytesOfStep)
      : rooms_(comm, kSteps, bytes_of_step) {}

  void begin_step() { rooms_.begin_next(); }

  struct Place {
    std::uint64_t offset = 0;
    std::uint64_t bytes = 0;
  };
  // Lays a message down, at any byte. None if it is short, the rank does not read this shelf, or there is no room.
  std::optional<Place> put(int to, ConstBytes message);
  // Of all that was put, before messages that tell of it are sent.
  void publish() const { rooms_.space().publish(); }
  // What a rank has put there, after a message of its that tells so; good until the end of the step. Throws
  // Error(kFailed) where there is no such place.
  ConstBytes get(int from, const Place& place) const;

 private:
  SharedRing rooms_;
};

}  // namespace cpt
