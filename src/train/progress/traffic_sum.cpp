#include "train/progress/traffic_sum.h"

#include "comm/collectives.h"
#include "train/partitioned/wire/tree_change_messages.h"

namespace cpt {

TrafficByCall traffic_of_all(Communicator& comm) {
  TrafficByCall sum;
  for (const auto& bytes : all_gather_bytes(comm, pack(comm.traffic()), "end: traffic")) {
    for (const auto& [call, part] : unpack_traffic(bytes)) {
      Traffic& all = sum[call];
      all.waits += part.waits;
      all.bytes += part.bytes;
      all.seconds += part.seconds / comm.size();
    }
  }
  return sum;
}

}  // namespace cpt
