// Moves weights between ranks, partition by partition, packed as in weights_blob.h.
//
// The functions are collective, with the same owners on all ranks. A rank with an error takes part to the end, and then
// all throw the same AgreedError (alone, the error itself).
#pragma once

#include <cstddef>
#include <functional>
#include <span>

#include "comm/communicator.h"
#include "model/weights/weight_table.h"
#include "train/placement/ownership.h"

namespace cpt {

// Sends the weights of every partition whose owner changes to the new owner; the old owner clears them. Other
// partitions stay as they are. To bound the memory, partitions move in turns in which a rank packs at most one
// partition and receives at most one; a turn costs 8n^2 bytes of lengths beside the contents. After an error the
// weights are unusable.
void move_partitions(Communicator& comm, WeightTable& weights, const Owners& from, const Owners& to);

// Called on rank 0 only, in the order of the partitions; `packed` is valid during the call.
using PartitionVisit = std::function<void(Partition, std::span<const std::byte> packed)>;

// Passes the weights of all partitions to `visit` on rank 0, each from its owner. A few partitions are in flight or at
// rank 0 at a time. A visit that throws is the last one; later partitions are received and dropped.
void gather_partitions(Communicator& comm, const WeightTable& weights, const Owners& owners,
                       const PartitionVisit& visit);

}  // namespace cpt
