// Memory that the ranks of one host share: each rank writes its own area, and the others read it in place.
#pragma once

#include <cstddef>
#include <vector>

#include "comm/buffer.h"
#include "comm/communicator.h"

namespace cpt {

// The memory belongs to the communicators of the ranks (see Communicator::share_memory); a window only refers to it. If
// ranks are on different hosts, or their system has no memory to share, their areas are empty; that is no error.
//
// A reader sees what a rank wrote before publish(), if it calls of() after it receives a message that the rank sent
// after publish(). Ranks must not overwrite what others still read.
class SharedWindow {
 public:
  // Collective; `bytes` must be equal on all ranks. Throws only what collectives throw.
  SharedWindow(Communicator& comm, std::size_t bytes);

  // The area of this rank, at a multiple of 64 bytes; empty if there is no shared memory.
  Bytes mine() const { return own_; }
  // Makes what this rank has written visible to ranks that read it after a later message.
  void publish() const;
  // Whether `rank` can read the area of this rank, which is so if and only if of(this rank) is not empty there.
  bool read_by(int rank) const { return !areas_[static_cast<std::size_t>(rank)].empty(); }
  // The area of a rank; empty if this rank cannot read it.
  ConstBytes of(int rank) const;

 private:
  std::vector<Bytes> areas_;  // by rank, each with its header; empty: not shared
  Bytes head_;                // the whole area of this rank
  Bytes own_;
};

}  // namespace cpt
