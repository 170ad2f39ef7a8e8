// MPI shared windows: memory that the ranks of one host have in common. For the mpi*.cpp files alone.
#pragma once

#include <mpi.h>

#include <cstddef>
#include <vector>

#include "comm/buffer.h"

namespace cpt {

// All windows of a session. To free one is collective, so none is freed while ranks work: after an error that only some
// ranks know of, a destructor would wait for ranks that never come. They end with the session, as MPI does.
class MpiWindows {
 public:
  MpiWindows() = default;
  ~MpiWindows();
  MpiWindows(const MpiWindows&) = delete;
  MpiWindows& operator=(const MpiWindows&) = delete;

  // Collective over `comm`: an area of `bytes` for each rank; returns those that this rank can address, by rank of
  // `comm`, each at a multiple of 64 bytes. All empty on a host where there is too little memory to share.
  std::vector<Bytes> allocate(MPI_Comm comm, std::size_t bytes);

 private:
  std::vector<MPI_Win> windows_;
};

}  // namespace cpt
