// What partitions cost, from what ranks did for them and how long that took. A row that lies in a cache costs a
// fraction of one that does not, and machines differ: counts alone tell neither. (Measured, AMD EPYC, novels, a table
// of 1 GiB: by counts two ranks were even, and one took 1.28 times as long as the other.)
#pragma once

#include <cstdint>
#include <vector>

#include "train/placement/ownership.h"

namespace cpt {

// What a rank has measured of its own partitions, since all last compared.
struct RankLoads {
  Loads of{};              // 0 for those of others
  std::uint64_t busy = 0;  // nanoseconds of processor time that they took
};

// The loads of all partitions in rows that take equally long everywhere. A row of a slow rank counts for more, and
// the root's rows, nearer to their processor than any, for what they leave unexplained of their rank's time (a quarter
// of their number at least). As counted where ranks did less than half a million rows on average, which takes too
// short to tell: so small jobs are the same in all their figures whenever they run.
Loads timed_loads(const Owners& owners, const std::vector<RankLoads>& by_rank);

}  // namespace cpt
