#include "train/messages/tree_change_messages.h"

#include <boost/archive/binary_iarchive.hpp>
#include <boost/archive/binary_oarchive.hpp>
#include <boost/serialization/map.hpp>
#include <boost/serialization/string.hpp>
#include <boost/serialization/vector.hpp>
#include <cstring>
#include <sstream>

#include "comm/collectives.h"
#include "cpt/error.h"
#include "cpt/hashing.h"

namespace boost::serialization {

template <class Archive>
void serialize(Archive& archive, cpt::Proposal& proposal, unsigned /*version*/) {
  archive& proposal.label& proposal.features& proposal.values;
}

template <class Archive>
void serialize(Archive& archive, cpt::TreeChange& change, unsigned /*version*/) {
  archive& change.label& change.splits& change.disagreements;
}

template <class Archive>
void serialize(Archive& archive, cpt::Traffic& traffic, unsigned /*version*/) {
  archive& traffic.waits& traffic.bytes& traffic.seconds;
}

}  // namespace boost::serialization

namespace cpt {

namespace {

constexpr unsigned kArchive = boost::archive::no_header;

template <class T>
std::vector<std::byte> to_bytes(const T& values) {
  std::ostringstream stream;
  boost::archive::binary_oarchive(stream, kArchive) << values;
  const std::string text = stream.str();
  std::vector<std::byte> bytes(text.size());
  std::memcpy(bytes.data(), text.data(), text.size());
  return bytes;
}

template <class T>
T from_bytes(std::span<const std::byte> bytes) {
  std::istringstream stream(std::string(reinterpret_cast<const char*>(bytes.data()), bytes.size()));
  T values;
  try {
    boost::archive::binary_iarchive(stream, kArchive) >> values;
  } catch (const std::exception&) {  // of the archive, or of a vector of an absurd length
    std::throw_with_nested(Error(Fault::kFailed, "a message of another rank cannot be decoded"));
  }
  return values;
}

}  // namespace

Proposal Proposal::of(const ExampleView& x) {
  return {std::string(x.label), {x.features.begin(), x.features.end()}, {x.values.begin(), x.values.end()}};
}

ExampleView Proposal::view() const {
  ExampleView x;
  x.features = features;
  x.values = values;
  x.label = label;
  x.label_hash = hash_label(label);
  return x;
}

std::vector<std::byte> pack(const std::vector<Proposal>& proposals) { return to_bytes(proposals); }
std::vector<std::byte> pack(const std::vector<TreeChange>& changes) { return to_bytes(changes); }
std::vector<std::byte> pack(const TrafficByCall& traffic) { return to_bytes(traffic); }
std::vector<Proposal> unpack_proposals(std::span<const std::byte> bytes) {
  return from_bytes<std::vector<Proposal>>(bytes);
}
std::vector<TreeChange> unpack_changes(std::span<const std::byte> bytes) {
  return from_bytes<std::vector<TreeChange>>(bytes);
}
TrafficByCall unpack_traffic(std::span<const std::byte> bytes) { return from_bytes<TrafficByCall>(bytes); }

TrafficByCall traffic_of_all(Communicator& comm, const char* call) {
  TrafficByCall sum;
  for (const auto& bytes : all_gather_bytes(comm, pack(comm.traffic()), call)) {
    for (const auto& [of_call, part] : unpack_traffic(bytes)) {
      Traffic& all = sum[of_call];
      all.waits += part.waits;
      all.bytes += part.bytes;
      all.seconds += part.seconds / comm.size();
    }
  }
  return sum;
}

}  // namespace cpt
