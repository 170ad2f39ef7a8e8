// Memory that the ranks of one host share: each rank writes its own area, and the others read it in place.
#pragma once

#include <cstddef>
#include <vector>

#include "comm/buffer.h"
#include "comm/communicator.h"

namespace cpt {

// The memory belongs to the ranks' communicators (see Communicator::share_memory); a window only refers to it. Ranks
// of different hosts share nothing, and neither do ranks whose system has no memory to share. That is no error.
//
// A reader sees what a rank wrote before publish() if it calls of() after receiving a message that the rank sent after
// publish(). Not overwriting what others still read is up to the ranks.
class SharedWindow {
 public:
  // Collective: every rank asks for an area of the same size. Throws only what collectives throw.
  SharedWindow(Communicator& comm, std::size_t bytes);

  // The area of this rank, at a multiple of 64 bytes; empty where there is no shared memory.
  Bytes mine() const { return own_; }
  // Makes what this rank has written visible to those that read it after a later message.
  void publish() const;
  // Whether a rank reads this rank's area; this rank itself does if there is one. True on one rank if and only if of()
  // is not empty on the other.
  bool read_by(int rank) const { return !areas_[static_cast<std::size_t>(rank)].empty(); }
  // The area of a rank; empty where this rank cannot read it.
  ConstBytes of(int rank) const;

 private:
  std::vector<Bytes> areas_;  // by rank, each with its head; empty: not shared
  Bytes head_;                // of this rank
  Bytes own_;
};

}  // namespace cpt
