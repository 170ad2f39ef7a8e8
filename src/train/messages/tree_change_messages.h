// Messages of varying length: proposals of new labels, changes of the tree, and traffic figures.
#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <vector>

#include "comm/communicator.h"
#include "cpt/example.h"
#include "cpt/traffic.h"
#include "model/learning/learner.h"

namespace cpt {

// A label that is not in the tree, with the x of its first example in the batch.
struct Proposal {
  std::string label;
  std::vector<FeatureHash> features;
  std::vector<float> values;

  static Proposal of(const ExampleView& x);
  // Borrows from the proposal.
  ExampleView view() const;
};

// To bytes and back with Boost.Serialization, for ranks that run the same program. unpack_* throw Error(kFailed) if the
// bytes are not what pack() made.
std::vector<std::byte> pack(const std::vector<Proposal>& proposals);
std::vector<std::byte> pack(const std::vector<TreeChange>& changes);
std::vector<std::byte> pack(const TrafficByCall& traffic);
std::vector<Proposal> unpack_proposals(std::span<const std::byte> bytes);
std::vector<TreeChange> unpack_changes(std::span<const std::byte> bytes);
TrafficByCall unpack_traffic(std::span<const std::byte> bytes);

// The traffic of all ranks so far: sums of waits and bytes, and mean seconds. Collective.
TrafficByCall traffic_of_all(Communicator& comm, const char* call);

}  // namespace cpt
