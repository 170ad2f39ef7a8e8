// Work on many things, any of which any rank can do.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "comm/agreement.h"
#include "comm/communicator.h"

namespace cpt {

// The values of work(0) ... work(count - 1), on all ranks: rank i % n does the i-th, and sends its own values to every
// other. Fails as run_on_all() does.
template <class Work>
std::vector<std::uint64_t> distribute_work(Communicator& comm, std::size_t count, const char* call, Work work) {
  const auto ranks = static_cast<std::size_t>(comm.size());
  const std::size_t most = (count + ranks - 1) / ranks;  // of one rank
  std::vector<std::uint64_t> mine(most);
  run_on_all(comm, call, [&] {
    for (auto i = static_cast<std::size_t>(comm.rank()); i < count; i += ranks) mine[i / ranks] = work(i);
  });
  std::vector<std::uint64_t> all(most * ranks);
  comm.wait(*comm.start_all_gather(std::as_bytes(std::span(mine)), std::as_writable_bytes(std::span(all))), call);
  std::vector<std::uint64_t> values(count);
  for (std::size_t i = 0; i < count; ++i) values[i] = all[i % ranks * most + i / ranks];
  return values;
}

}  // namespace cpt
