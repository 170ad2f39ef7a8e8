#include "api/blobs/partition_places.h"

#include <cereal/types/string.hpp>
#include <cereal/types/vector.hpp>
#include <map>
#include <vector>

#include "cpt/error.h"
#include "store/blob/archive.h"

namespace cpt {

namespace {

constexpr std::uint64_t kMostBytes = std::uint64_t{1} << 32;

void require_full(const BlobSetReader& set, const PartitionPlaces& places) {
  std::map<std::string, std::uint64_t> filled;
  bool fits = true;
  for (const PartitionPlace& place : places) {
    std::uint64_t& end = filled[place.blob];
    fits = fits && place.offset == end && place.bytes <= set.raw_bytes(place.blob) - end;
    if (fits) end += place.bytes;
  }
  for (const auto& [blob, end] : filled) fits = fits && end == set.raw_bytes(blob);
  if (!fits) throw Error(Fault::kBadData, set.directory().string() + ": its partitions overlap or leave gaps");
}

}  // namespace

PartitionPlaces read_places(const BlobSetReader& checkpoint) {
  const auto listed = read_archive<std::vector<PartitionPlace>>(checkpoint, "partitions", kMostBytes);
  PartitionPlaces places;
  const bool whole = listed.size() == places.size();
  for (std::size_t i = 0; whole && i < places.size(); ++i) places[i] = listed[i];
  for (Partition p = 0; p < kPartitions; ++p) {
    if (whole && places[p].partition == p) continue;
    throw Error(Fault::kBadData, checkpoint.directory().string() + ": its list of partitions is not whole");
  }
  require_full(checkpoint, places);
  return places;
}

}  // namespace cpt
