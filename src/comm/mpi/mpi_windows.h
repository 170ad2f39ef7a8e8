// MPI shared windows: memory that the ranks of one host share. Only the mpi*.cpp files include this.
#pragma once

#include <mpi.h>

#include <cstddef>
#include <vector>

#include "comm/buffer.h"

namespace cpt {

// All windows of a session. Freeing a window is collective, so none is freed while ranks work: after an error on only
// some ranks, a destructor would wait for the others for ever. Windows are freed with the session.
class MpiWindows {
 public:
  MpiWindows() = default;
  ~MpiWindows();
  MpiWindows(const MpiWindows&) = delete;
  MpiWindows& operator=(const MpiWindows&) = delete;

  // Collective over `comm`: allocates an area of `bytes` for each rank. Returns, by rank of `comm`, the areas that this
  // rank can address, each at a multiple of 64 bytes; the others are empty. All are empty if the host has too little
  // shared memory.
  std::vector<Bytes> allocate(MPI_Comm comm, std::size_t bytes);

 private:
  std::vector<MPI_Win> windows_;
};

}  // namespace cpt
