// Work on all ranks that fails on all of them together: if one rank fails, all throw the same error.
#pragma once

#include <cstddef>
#include <cstdint>
#include <exception>
#include <span>
#include <string>
#include <vector>

#include "comm/communicator.h"
#include "core/deferred_error.h"

namespace cpt {

// The same on all ranks: the fault of the lowest failing rank and "rank 2 on node7: reason (and 3 more ranks failed)".
class AgreedError : public Error {
 public:
  AgreedError(Fault fault, const std::string& reason) : Error(fault, reason) {}
};

// Collective: each rank passes the exception that it caught, or nullptr. If any rank passes one, all throw the same
// AgreedError; if that one is itself an AgreedError, its text stays as it is. Sends 8 bytes to every other rank if
// nobody fails. Not for failures of the communicator itself (StallError, or an Error of wait()): the other ranks would
// not call this.
void agree_on_error(Communicator& comm, const std::exception_ptr& mine, const char* call);

// Runs `work` on every rank. If it throws on any, all throw the same AgreedError; on a single rank, the original error.
// `work` must not call the communicator.
template <class Work>
void run_on_all(Communicator& comm, const char* call, Work work) {
  if (comm.size() == 1) return work();
  DeferredError error;
  error.run(work);
  agree_on_error(comm, error.get(), call);
}

// Returns the values of work(0) ... work(count - 1) on all ranks. Rank i % n computes the i-th and sends it to the
// others. Fails as run_on_all() does.
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

// The digest of a value that must be the same on all ranks, and the words by which an error names a different value,
// such as "another tree".
struct NamedDigest {
  std::string another;
  std::uint64_t digest;
};

// Collective, with the same names on all ranks. Throws on all of them, if a rank's digests are not those of rank 0:
// "rank 2 on node7 has another --alpha and another --seed than rank 0 on node1", and `advice`. Sends 8 bytes for each
// to every other rank.
void require_equal(Communicator& comm, const std::vector<NamedDigest>& mine, const char* call,
                   Fault fault = Fault::kFailed, const std::string& advice = {});

// agree_on_error() in two halves, for callers whose own messages can carry the fault. encode_fault() returns the fault,
// or 0 for nullptr. Once all ranks know that at least one failed, all call throw_agreed(), which sends a few words and
// the reason.
std::uint64_t encode_fault(const std::exception_ptr& mine);
[[noreturn]] void throw_agreed(Communicator& comm, const std::exception_ptr& mine);

}  // namespace cpt
