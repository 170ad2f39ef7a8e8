#include "model/weights/weight_table.h"

#include <sys/mman.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>

#include "cpt/error.h"
#include "cpt/hashing.h"

namespace cpt {

namespace {

// Shares of the table, in units of 1/1024.
constexpr std::uint64_t kRootShare = 64;
constexpr std::uint64_t kLevel1Share = 192;

}  // namespace

WeightTable::WeightTable(int bits, int trees)
    : bits_(bits),
      trees_(trees),
      regions_(divide_table(bits, trees)),
      base_(make_zeroed<float>(rows() * kLanes, "a weight table")),
      calibrators_(regions_.size()) {}

void WeightTable::Survey::add(const Survey& other) {
  used += other.used;
  digest += other.digest;
  finite = finite && other.finite;
}

WeightTable::Survey WeightTable::survey() const {
  Survey whole;
  for (Partition partition = 0; partition < partitions(); ++partition) whole.add(survey(partition));
  return whole;
}

WeightTable::Survey WeightTable::survey(Partition partition) const {
  Survey survey;
  const Region& region = regions_[partition];
  for (std::uint64_t i = region.first; i < region.first + region.rows; ++i) {
    if (!used(i)) continue;
    ++survey.used;
    survey.digest += digest_of(row(i), i);
    survey.finite = survey.finite && is_finite(std::span<const float, kLanes>(row(i), kLanes));
  }
  survey.digest += calibrators_.digest(partition);
  survey.finite = survey.finite && calibrators_.finite(partition);
  return survey;
}

std::uint64_t WeightTable::digest_of(const float* row, std::uint64_t index) {
  std::uint64_t words[kLanes / 2];
  std::memcpy(words, row, sizeof words);
  std::uint64_t digest = mix(index);
  for (std::uint64_t word : words) digest = (digest ^ word) * 0x9fb21c651e98df25ULL + (digest >> 29);
  return mix(digest);
}

void WeightTable::clear(Partition partition) {
  calibrators_.clear(partition);
  const Region& region = regions_[partition];
  auto* const begin = reinterpret_cast<std::byte*>(row(region.first));
  auto* const end = reinterpret_cast<std::byte*>(row(region.first + region.rows));
  // Only whole pages can be returned. The table itself begins at a page boundary.
  const auto page = static_cast<std::size_t>(sysconf(_SC_PAGESIZE));
  auto* const table = reinterpret_cast<std::byte*>(base_.get());
  std::byte* const first = table + (static_cast<std::size_t>(begin - table) + page - 1) / page * page;
  std::byte* const last = table + static_cast<std::size_t>(end - table) / page * page;
  // Returned pages read as zero. If the system refuses to take them (locked memory), they are overwritten.
  if (first >= last || madvise(first, static_cast<std::size_t>(last - first), MADV_DONTNEED) != 0) {
    std::memset(begin, 0, static_cast<std::size_t>(end - begin));
    return;
  }
  std::memset(begin, 0, static_cast<std::size_t>(first - begin));
  std::memset(last, 0, static_cast<std::size_t>(end - last));
}

std::vector<Region> divide_table(int bits, int trees) {
  if (bits < kLeastBits || bits > kMostBits) {
    throw Error(Fault::kUsage, "--bits must be between 10 and 40");
  }
  const std::uint64_t rows = std::uint64_t{1} << bits;
  const std::uint64_t root = rows * kRootShare / 1024;
  const std::uint64_t level1 = rows * kLevel1Share / 1024 / kLevel1Partitions;
  const std::uint64_t deep = (rows - root - level1 * kLevel1Partitions) / kDeepPartitions;
  const std::uint64_t size_by_level[] = {root, level1, deep};
  std::vector<Region> regions(root_partition(static_cast<std::size_t>(trees)));
  std::uint64_t first = 0;
  for (Partition p = 0; p < partitions_in(regions); ++p) {
    if (in_tree(p) == 0) first = tree_of(p) * rows;
    const std::uint64_t size = size_by_level[partition_level(p)];
    regions[p] = {first, size};
    first += size;
  }
  return regions;
}

}  // namespace cpt
