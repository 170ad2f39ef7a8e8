// A few random shards as the input of a stream.
#pragma once

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "data/binary.h"
#include "data/folder.h"
#include "data/lines.h"
#include "data/random_shards.h"
#include "data/reading.h"

namespace cpt {

// 1 to 5 shards in the folder, some of them empty, packed or binary, to be read in either order.
inline Input random_input(RandomShards& random, const Folder& folder, ReadOptions options) {
  options.order = random.below(2) == 0 ? ShardOrder::kInterleaved : ShardOrder::kSequential;
  std::vector<std::string> paths;
  for (std::uint64_t left = 1 + random.below(5); left > 0; --left) {
    const auto format = static_cast<Format>(1 + random.below(3));
    std::string content = random.text(format, random.below(3) * random.below(20));
    if (random.below(5) == 0) content = binary_of({folder.write("text", content)}, options, {5, 40, 16});
    paths.push_back(folder.write(std::to_string(left), random.packed(content)));
  }
  return input_of(paths, std::move(options));
}

}  // namespace cpt
