#include "comm/agreement.h"

#include <algorithm>
#include <vector>

#include "comm/collectives.h"

namespace cpt {
namespace {

constexpr const char* kCall = "agreement on an error";

// The text of the AgreedError for the error of this rank; `others` is the number of other ranks that failed.
std::string reason_of(const Communicator& comm, const std::exception_ptr& mine, std::ptrdiff_t others) {
  std::string reason = "unknown error";
  try {
    std::rethrow_exception(mine);
  } catch (const AgreedError& error) {
    return error.what();
  } catch (const std::exception& error) {
    reason = describe(error);
  } catch (...) {
  }
  std::string text = rank_and_host(comm, comm.rank()) + ": " + reason;
  if (others == 1) text += " (and 1 more rank failed)";
  if (others > 1) text += " (and " + std::to_string(others) + " more ranks failed)";
  return text;
}

}  // namespace

void require_equal(Communicator& comm, const std::vector<NamedDigest>& mine, const char* call, Fault fault,
                   const std::string& advice) {
  std::vector<std::uint64_t> digests;
  for (const NamedDigest& one : mine) digests.push_back(one.digest);
  std::vector<std::uint64_t> all(digests.size() * static_cast<std::size_t>(comm.size()));
  comm.wait(*comm.start_all_gather(std::as_bytes(std::span(digests)), std::as_writable_bytes(std::span(all))), call);
  for (int rank = 1; rank < comm.size(); ++rank) {
    const std::uint64_t* its = all.data() + static_cast<std::size_t>(rank) * mine.size();
    std::string others;
    for (std::size_t i = 0; i < mine.size(); ++i) {
      if (its[i] != all[i]) others += (others.empty() ? "" : " and ") + mine[i].another;
    }
    if (others.empty()) continue;
    throw AgreedError(fault, rank_and_host(comm, rank) + " has " + others + " than " + rank_and_host(comm, 0) + advice);
  }
}

std::uint64_t encode_fault(const std::exception_ptr& mine) {
  if (mine == nullptr) return 0;
  Fault fault = Fault::kFailed;
  try {
    std::rethrow_exception(mine);
  } catch (const std::exception& error) {
    fault = fault_of(error);
  } catch (...) {
  }
  return static_cast<std::uint64_t>(fault);
}

void agree_on_error(Communicator& comm, const std::exception_ptr& mine, const char* call) {
  const std::vector<std::uint64_t> faults = all_gather_value(comm, encode_fault(mine), call);
  if (std::ranges::any_of(faults, [](std::uint64_t fault) { return fault != 0; })) throw_agreed(comm, mine);
}

void throw_agreed(Communicator& comm, const std::exception_ptr& mine) {
  const std::vector<std::uint64_t> faults = all_gather_value(comm, encode_fault(mine), kCall);
  const auto lowest = std::ranges::find_if(faults, [](std::uint64_t fault) { return fault != 0; });
  if (lowest == faults.end()) throw Error(Fault::kFailed, "agreement on an error that no rank has");

  const int speaker = static_cast<int>(lowest - faults.begin());
  const auto silent = std::ranges::count(faults, std::uint64_t{0});
  const std::ptrdiff_t others = comm.size() - silent - 1;
  const std::string mine_said = comm.rank() == speaker ? reason_of(comm, mine, others) : std::string();
  throw AgreedError(static_cast<Fault>(*lowest), broadcast_text(comm, mine_said, speaker, kCall));
}

}  // namespace cpt
