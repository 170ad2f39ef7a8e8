// Weights on the way from rank to rank, partition by partition, packed as in weights_blob.h.
//
// All ranks call each function alike, with the same owners. What goes wrong on one rank does not keep the others
// waiting: it takes part to the end and all throw the same AgreedError (alone, the error itself).
#pragma once

#include <cstddef>
#include <functional>
#include <span>

#include "comm/communicator.h"
#include "model/weights/weight_table.h"
#include "train/placement/ownership.h"

namespace cpt {

// The weights of every partition whose owner changes go to the new owner, and the old one clears its own. Other
// partitions stay as they are on every rank. In turns, in each of which a rank packs at most one partition and receives
// at most one: that bounds the memory, and costs 8n^2 bytes of lengths per turn beside the contents. After an error
// the weights are in no state to go on with.
void move_partitions(Communicator& comm, WeightTable& weights, const Owners& from, const Owners& to);

// Called on rank 0 only, in the order of the partitions; `packed` is valid during the call.
using PartitionVisit = std::function<void(Partition, std::span<const std::byte> packed)>;

// Shows rank 0 the weights of all partitions, each from its owner. A few of them are under way
// or at rank 0 at a time. A visit that throws is the last one; what is still to come is received and dropped.
void gather_partitions(Communicator& comm, const WeightTable& weights, const Owners& owners,
                       const PartitionVisit& visit);

}  // namespace cpt
