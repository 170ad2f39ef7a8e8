#include "data/shards/split.h"

#include <algorithm>
#include <array>
#include <span>

#include "cpt/error.h"
#include "data/source/file_source.h"
#include "data/source/gzip_source.h"
#include "data/source/zstd_source.h"

namespace cpt {

bool can_be_split(const Shard& file) {
  if (!file.regular) return false;
  FileSource source(file.path, nullptr);
  std::array<char, 16> beginning{};
  const std::span<const char> read(beginning.data(), source.read(beginning));
  return !is_gzip(read) && !is_zstd(read);
}

std::vector<Shard> split(const Shard& file, std::uint32_t parts) {
  const auto count = static_cast<std::uint32_t>(std::clamp<std::uint64_t>(file.bytes, 1, parts));
  std::vector<Shard> shards;
  for (std::uint32_t index = 0; index < count; ++index) {
    shards.push_back(file);
    shards.back().part = {index, count};
  }
  return shards;
}

}  // namespace cpt
