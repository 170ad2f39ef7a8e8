// Puts features nearly into the order of their hashes, in linear time.
#pragma once

#include <algorithm>
#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>
#include <utility>
#include <vector>

namespace cpt {

namespace hash_order {

// Turns the number of items in each bucket into the bucket's start. Adds up eight at a time; their sum is at most 255.
template <std::size_t kBuckets>
void make_begins(std::array<std::uint8_t, kBuckets>& counts) {
  static_assert(std::endian::native == std::endian::little);
  constexpr std::uint64_t kOnes = 0x0101010101010101;
  std::uint64_t before = 0;
  for (std::size_t i = 0; i < kBuckets; i += sizeof before) {
    std::uint64_t word = 0;
    std::memcpy(&word, &counts[i], sizeof word);
    const std::uint64_t sums = word * kOnes;  // byte k: the sum of bytes 0 .. k
    const std::uint64_t begins = (sums << 8) + before * kOnes;
    before += sums >> 56;
    std::memcpy(&counts[i], &begins, sizeof begins);
  }
}

template <int kBits, class Item>
void deal_few(std::span<const Item> items, std::span<Item> dealt) {
  alignas(64) std::array<std::uint8_t, std::size_t{1} << kBits> next{};
  for (const Item& item : items) ++next[item.feature >> (64 - kBits)];
  make_begins(next);
  for (const Item& item : items) dealt[next[item.feature >> (64 - kBits)]++] = item;
}

template <class Item>
void deal_many(std::span<const Item> items, std::span<Item> dealt) {
  constexpr int kMostBits = 20;  // the counters of more would not fit into the cache
  const int shift = 64 - std::min(static_cast<int>(std::bit_width(items.size())), kMostBits);
  std::vector<std::uint32_t> next(std::size_t{1} << (64 - shift));
  for (const Item& item : items) ++next[item.feature >> shift];
  std::uint32_t before = 0;
  for (std::uint32_t& bucket : next) before += std::exchange(bucket, before);
  for (const Item& item : items) dealt[next[item.feature >> shift]++] = item;
}

}  // namespace hash_order

// Puts items into buckets by the upper bits of `feature`, their 64-bit hash, and keeps their order within a bucket. In
// `dealt`, which has the length of `items`, only neighbors whose upper bits agree may be out of order. Fewer than 2^32
// items.
//
// Why not sort: the processor cannot predict comparisons of hashes. Mispredicting half of them took a third of the time
// to read a line of ten features, and half of it with forty. Hashes are spread evenly, so their upper bits give each
// position nearly exactly, without a branch.
template <class Item>
void deal_by_hash(std::span<const Item> items, std::span<Item> dealt) {
  if (items.size() <= 16) return hash_order::deal_few<6>(items, dealt);
  if (items.size() <= 32) return hash_order::deal_few<7>(items, dealt);
  if (items.size() <= 64) return hash_order::deal_few<8>(items, dealt);
  if (items.size() <= 192) return hash_order::deal_few<9>(items, dealt);
  hash_order::deal_many(items, dealt);
}

}  // namespace cpt
