#include "train/traffic_sum.h"

#include <boost/archive/binary_iarchive.hpp>
#include <boost/archive/binary_oarchive.hpp>
#include <boost/serialization/map.hpp>
#include <boost/serialization/string.hpp>
#include <cstddef>
#include <span>
#include <sstream>
#include <string>

#include "comm/collectives.h"

namespace boost::serialization {

template <class Archive>
void serialize(Archive& archive, cpt::Traffic& traffic, unsigned /*version*/) {
  archive& traffic.waits& traffic.bytes& traffic.seconds;
}

}  // namespace boost::serialization

namespace cpt {

namespace {

constexpr unsigned kArchive = boost::archive::no_header;

std::string pack(const TrafficByCall& traffic) {
  std::ostringstream stream;
  boost::archive::binary_oarchive(stream, kArchive) << traffic;
  return stream.str();
}

TrafficByCall unpack(const std::vector<std::byte>& bytes) {
  std::istringstream stream(std::string(reinterpret_cast<const char*>(bytes.data()), bytes.size()));
  TrafficByCall traffic;
  boost::archive::binary_iarchive(stream, kArchive) >> traffic;
  return traffic;
}

}  // namespace

TrafficByCall traffic_of_all(Communicator& comm) {
  const std::string mine = pack(comm.traffic());
  TrafficByCall sum;
  for (const auto& bytes : all_gather_bytes(comm, std::as_bytes(std::span(mine)), "end: traffic")) {
    for (const auto& [call, part] : unpack(bytes)) {
      Traffic& all = sum[call];
      all.waits += part.waits;
      all.bytes += part.bytes;
      all.seconds += part.seconds / comm.size();
    }
  }
  return sum;
}

}  // namespace cpt
