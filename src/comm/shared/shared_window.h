// Memory in which ranks of one machine read what another of them has written, without a copy.
#pragma once

#include <cstddef>
#include <memory>
#include <vector>

#include "comm/buffer.h"
#include "comm/communicator.h"

namespace cpt {

// A rank writes into an area of its own and reads those of the ranks on its machine. The memory has no name in any file
// system: it is gone with the processes, however they end. Where a machine does not allow to share it (ranks in
// containers that do not see one another's processes) nothing is shared, and that is no error.
//
// A rank reads what another one had written before its publish() if it calls of() after a message which that one sent
// after its publish(); it is the ranks' business to write nothing over what others still read.
class SharedWindow {
 public:
  // Collective: all ranks ask for areas of so many bytes. Throws only what collectives throw.
  SharedWindow(Communicator& comm, std::size_t bytes);

  // The area of this rank, at a multiple of 64 bytes; empty where the system has no memory to share.
  Bytes mine() const;
  void publish() const;
  // Whether a rank reads this one's area. It itself does.
  bool read_by(int rank) const { return read_by_[static_cast<std::size_t>(rank)] != 0; }
  // The area of a rank; empty where this one cannot read it. There is one to read if and only if that rank is told so
  // by its read_by().
  ConstBytes of(int rank) const;

 private:
  struct Unmap {
    std::size_t bytes = 0;
    void operator()(std::byte* at) const;
  };
  // How often its rank has published, and the area.
  using Mapping = std::unique_ptr<std::byte, Unmap>;

  static Mapping map(int file, std::size_t bytes, int protection);
  static Bytes area_of(const Mapping& mapping);
  void tell_readers(Communicator& comm);

  std::size_t rank_;
  std::vector<Mapping> mappings_;       // by rank; nullptr: not to be read
  std::vector<unsigned char> read_by_;  // by rank: 1 or 0
};

}  // namespace cpt
