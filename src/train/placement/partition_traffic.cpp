#include "train/placement/partition_traffic.h"

#include <array>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "api/blobs/weights_blob.h"
#include "comm/agreement.h"
#include "comm/collectives.h"
#include "core/deferred_error.h"
#include "cpt/error.h"
#include "cpt/hashing.h"

namespace cpt {

namespace {

// Partitions in flight to rank 0 at a time: while it writes one, owners pack others.
constexpr std::size_t kMostTransfers = 4;

using Packed = std::vector<std::byte>;

// The errors of a rank between collectives that it must not miss.
struct TransferErrors {
  DeferredError own;
  DeferredError missing;

  // Packed partitions are never empty. Either the owner failed, and its error is the cause, or the ranks disagree on
  // the owner.
  void note_missing(Partition partition, int owner) {
    missing.run([&] {
      throw Error(Fault::kFailed,
                  "rank " + std::to_string(owner) + " sent no weights of partition " + std::to_string(partition));
    });
  }

  void rethrow_on_all(Communicator& comm, const char* call) const {
    run_on_all(comm, call, [this] { own.rethrow(); });
    run_on_all(comm, call, [this] { missing.rethrow(); });
  }
};

using Turn = std::vector<Partition>;

// In each turn a rank gives at most one partition and takes at most one.
std::vector<Turn> turns_of(const Owners& from, const Owners& to, int ranks) {
  Turn pending;
  for (Partition partition = 0; partition < partitions_in(from); ++partition) {
    if (from[partition] != to[partition]) pending.push_back(partition);
  }
  std::vector<Turn> turns;
  while (!pending.empty()) {
    std::vector<bool> gives(static_cast<std::size_t>(ranks));
    std::vector<bool> takes(static_cast<std::size_t>(ranks));
    Turn turn;
    Turn later;
    for (const Partition partition : pending) {
      const auto giver = static_cast<std::size_t>(from[partition]);
      const auto taker = static_cast<std::size_t>(to[partition]);
      const bool fits = !gives[giver] && !takes[taker];
      (fits ? turn : later).push_back(partition);
      if (fits) gives[giver] = takes[taker] = true;
    }
    turns.push_back(std::move(turn));
    pending = std::move(later);
  }
  return turns;
}

void take_turn(Communicator& comm, WeightTable& weights, const Owners& from, const Owners& to, const Turn& turn,
               TransferErrors& errors) {
  std::vector<Packed> given(static_cast<std::size_t>(comm.size()));
  for (const Partition partition : turn) {
    if (from[partition] != comm.rank()) continue;
    Packed& packed = given[static_cast<std::size_t>(to[partition])];
    errors.own.run([&] { packed = pack_partition(weights, partition); });
  }
  const std::vector<Packed> taken = exchange(comm, {given.begin(), given.end()}, "move partitions");
  for (const Partition partition : turn) {
    if (from[partition] == comm.rank() && !errors.own) weights.clear(partition);
    if (to[partition] != comm.rank()) continue;
    const Packed& packed = taken[static_cast<std::size_t>(from[partition])];
    if (packed.empty()) {
      errors.note_missing(partition, from[partition]);
      continue;
    }
    errors.own.run([&] {
      weights.clear(partition);
      unpack_partition(packed, partition, weights);
    });
  }
}

// The packed weights of one partition on their way to rank 0.
struct Transfer {
  Packed packed;  // at its owner
  std::vector<Incoming> incoming;
  std::unique_ptr<Operation> operation;
};

// Ranks that disagree on owners would wait for messages that no rank sends.
void compare_owners(Communicator& comm, const Owners& owners) {
  const std::string_view bytes(reinterpret_cast<const char*>(owners.data()), owners.size() * sizeof owners[0]);
  require_equal(comm, {{"other owners of the model's partitions", hash_label(bytes)}}, "gather partitions: owners");
}

void start_transfer(Communicator& comm, const WeightTable& weights, Partition partition, int owner,
                    TransferErrors& errors, Transfer& transfer) {
  transfer.packed.clear();
  if (owner == comm.rank()) errors.own.run([&] { transfer.packed = pack_partition(weights, partition); });
  std::vector<Outgoing> outgoing;
  transfer.incoming.clear();
  if (owner != 0 && owner == comm.rank()) outgoing.push_back({0, transfer.packed});
  if (owner != 0 && comm.rank() == 0) transfer.incoming.push_back({owner, {}});
  transfer.operation = comm.start_delivery(std::move(outgoing), transfer.incoming);
}

void finish_transfer(Partition partition, int owner, const Transfer& transfer, const PartitionVisit& visit,
                     TransferErrors& errors) {
  const ConstBytes packed = owner == 0 ? ConstBytes(transfer.packed) : ConstBytes(transfer.incoming[0].bytes.bytes());
  if (packed.empty()) {
    errors.note_missing(partition, owner);
  } else {
    errors.own.run([&] { visit(partition, packed); });
  }
}

}  // namespace

void move_partitions(Communicator& comm, WeightTable& weights, const Owners& from, const Owners& to) {
  TransferErrors errors;
  for (const Turn& turn : turns_of(from, to, comm.size())) take_turn(comm, weights, from, to, turn, errors);
  errors.rethrow_on_all(comm, "move partitions: end");
}

void gather_partitions(Communicator& comm, const WeightTable& weights, const Owners& owners,
                       const PartitionVisit& visit) {
  compare_owners(comm, owners);
  TransferErrors errors;
  std::array<Transfer, kMostTransfers> transfers;
  for (std::size_t next = 0; next < owners.size() + kMostTransfers; ++next) {
    Transfer& transfer = transfers[next % kMostTransfers];
    if (next >= kMostTransfers) {
      const auto partition = static_cast<Partition>(next - kMostTransfers);
      comm.wait(*transfer.operation, "gather partitions");
      if (comm.rank() == 0) finish_transfer(partition, owners[partition], transfer, visit, errors);
    }
    if (next < owners.size()) {
      start_transfer(comm, weights, static_cast<Partition>(next), owners[next], errors, transfer);
    }
  }
  errors.rethrow_on_all(comm, "gather partitions: end");
}

}  // namespace cpt
