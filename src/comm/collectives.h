// Blocking collectives built on those of Communicator. All ranks must call each with the same `call`, its name in
// messages. Comments state what each rank sends; n = number of ranks. They throw what Communicator::wait() throws.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>
#include <string>
#include <type_traits>
#include <vector>

#include "comm/communicator.h"
#include "core/bytes_of.h"
#include "cpt/error.h"

namespace cpt {

// Types that are sent as their bytes: the ranks of a job run the same program on the same kind of machine. Not bool,
// because std::vector<bool> is no array, and not pointers, which mean nothing on other ranks.
template <typename T>
concept Sendable = std::is_trivially_copyable_v<T> && !std::is_same_v<T, bool> && !std::is_pointer_v<T>;

// As bytes_of().
template <Sendable T>
Bytes writable_bytes_of(T& value) {
  return std::as_writable_bytes(std::span<T, 1>(&value, 1));
}

// The array that another rank sent as these bytes. Throws Error(kFailed) unless they are whole elements.
template <Sendable T>
std::vector<T> array_of(ConstBytes bytes) {
  if (bytes.size() % sizeof(T) != 0) {
    throw Error(Fault::kFailed, "protocol error: " + std::to_string(bytes.size()) + " bytes for elements of " +
                                    std::to_string(sizeof(T)));
  }
  std::vector<T> values(bytes.size() / sizeof(T));
  if (!bytes.empty()) std::memcpy(values.data(), bytes.data(), bytes.size());
  return values;
}

// Returns the values of all ranks, in rank order. Sends sizeof(T) bytes to every other rank.
template <Sendable T>
std::vector<T> all_gather_value(Communicator& comm, const T& mine, const char* call) {
  std::vector<T> all(static_cast<std::size_t>(comm.size()));
  comm.wait(*comm.start_all_gather(bytes_of(mine), std::as_writable_bytes(std::span(all))), call);
  return all;
}

// Returns the value of `root` on all ranks. sizeof(T) bytes reach every rank.
template <Sendable T>
T broadcast_value(Communicator& comm, T value, int root, const char* call) {
  comm.wait(*comm.start_broadcast(writable_bytes_of(value), root), call);
  return value;
}

// Sends outgoing[r] to rank r; returns what each rank sent to this one, in rank order. Receivers need not know lengths:
// every rank first sends 8n bytes of lengths to every other, then the contents.
std::vector<std::vector<std::byte>> exchange(Communicator& comm, const std::vector<ConstBytes>& outgoing,
                                             const char* call);

// Returns `mine` of every rank on rank 0, in rank order, and nothing on other ranks. Lengths may differ. Sends 8 bytes
// to every other rank, then the contents to rank 0.
std::vector<std::vector<std::byte>> gather_bytes(Communicator& comm, ConstBytes mine, const char* call);

// Returns `mine` of every rank on all ranks, in rank order. Lengths may differ. Sends 8 bytes and the contents to every
// other rank.
std::vector<std::vector<std::byte>> all_gather_bytes(Communicator& comm, ConstBytes mine, const char* call);

// Replaces `data` on all ranks by that of root. 8 bytes and the contents reach every rank.
void broadcast_bytes(Communicator& comm, std::vector<std::byte>& data, int root, const char* call);

// Returns the text of root on all ranks.
std::string broadcast_text(Communicator& comm, const std::string& text, int root, const char* call);

// Replaces each element by its sum over the ranks (integers modulo 2^64), added in rank order, so the bytes are the
// same in every run and on every rank. For short vectors, of the same length on all ranks: sends values.size_bytes() to
// every other rank, and allocates n times as much.
void sum_in_rank_order(Communicator& comm, std::span<std::uint64_t> values, const char* call);
void sum_in_rank_order(Communicator& comm, std::span<double> values, const char* call);

}  // namespace cpt
