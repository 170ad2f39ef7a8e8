#include "comm/collectives.h"

#include <algorithm>

namespace cpt {
namespace {

using Buffers = std::vector<std::vector<std::byte>>;

// Exchanges contents whose lengths are known by now: lengths[r] bytes come from rank r.
Buffers receive(Communicator& comm, const std::vector<ConstBytes>& outgoing, std::span<const std::uint64_t> lengths,
                const char* call) {
  Buffers received(lengths.size());
  std::vector<Bytes> incoming;
  incoming.reserve(lengths.size());
  for (std::size_t r = 0; r < lengths.size(); ++r) {
    received[r].resize(lengths[r]);
    incoming.emplace_back(received[r]);
  }
  comm.wait(*comm.start_exchange(outgoing, std::move(incoming)), call);
  return received;
}

template <typename T>
void sum(Communicator& comm, std::span<T> values, const char* call) {
  const std::size_t count = values.size();
  std::vector<T> all(count * static_cast<std::size_t>(comm.size()));
  comm.wait(*comm.start_all_gather(std::as_bytes(values), std::as_writable_bytes(std::span(all))), call);
  std::copy_n(all.begin(), count, values.begin());
  for (std::size_t i = count; i < all.size(); ++i) values[i % count] += all[i];
}

}  // namespace

Buffers exchange(Communicator& comm, const std::vector<ConstBytes>& outgoing, const char* call) {
  const auto ranks = static_cast<std::size_t>(comm.size());
  if (outgoing.size() != ranks) {
    throw Error(Fault::kFailed, std::string(call) + ": " + std::to_string(outgoing.size()) + " outgoing buffers for " +
                                    std::to_string(ranks) + " ranks");
  }
  std::vector<std::uint64_t> row;
  for (ConstBytes bytes : outgoing) row.push_back(bytes.size());
  std::vector<std::uint64_t> rows(ranks * ranks);
  comm.wait(*comm.start_all_gather(std::as_bytes(std::span(row)), std::as_writable_bytes(std::span(rows))), call);

  std::vector<std::uint64_t> lengths;
  const auto self = static_cast<std::size_t>(comm.rank());
  for (std::size_t r = 0; r < ranks; ++r) lengths.push_back(rows[r * ranks + self]);
  return receive(comm, outgoing, lengths, call);
}

Buffers gather_bytes(Communicator& comm, ConstBytes mine, const char* call) {
  std::vector<std::uint64_t> lengths = all_gather_value(comm, std::uint64_t{mine.size()}, call);
  std::vector<ConstBytes> outgoing(lengths.size());
  outgoing.front() = mine;
  if (comm.rank() == 0) return receive(comm, outgoing, lengths, call);
  std::ranges::fill(lengths, 0);
  receive(comm, outgoing, lengths, call);
  return {};
}

Buffers all_gather_bytes(Communicator& comm, ConstBytes mine, const char* call) {
  const std::vector<std::uint64_t> lengths = all_gather_value(comm, std::uint64_t{mine.size()}, call);
  return receive(comm, std::vector<ConstBytes>(lengths.size(), mine), lengths, call);
}

void broadcast_bytes(Communicator& comm, std::vector<std::byte>& data, int root, const char* call) {
  data.resize(broadcast_value(comm, std::uint64_t{data.size()}, root, call));
  comm.wait(*comm.start_broadcast(data, root), call);
}

std::string broadcast_text(Communicator& comm, const std::string& text, int root, const char* call) {
  const ConstBytes bytes = std::as_bytes(std::span(text));
  std::vector<std::byte> data(bytes.begin(), bytes.end());
  broadcast_bytes(comm, data, root, call);
  return {reinterpret_cast<const char*>(data.data()), data.size()};
}

void sum_in_rank_order(Communicator& comm, std::span<std::uint64_t> values, const char* call) {
  sum(comm, values, call);
}

void sum_in_rank_order(Communicator& comm, std::span<double> values, const char* call) { sum(comm, values, call); }

}  // namespace cpt
