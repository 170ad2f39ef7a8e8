#include "data/binary/binary_index.h"

#include <algorithm>
#include <array>
#include <cstring>
#include <filesystem>
#include <iterator>
#include <system_error>

#include "cpt/error.h"
#include "data/binary/binary_reader.h"
#include "data/format/parse_error.h"
#include "data/shards/shards.h"
#include "data/source/byte_source.h"

namespace cpt {
namespace {

// The last bytes of the file.
Trailer read_trailer(const std::string& path) {
  constexpr const char* kIndex = "the index of a binary shard";
  std::error_code failure;
  const std::uint64_t bytes = std::filesystem::file_size(path, failure);
  if (failure) throw Error(Fault::kNoInput, input_name(path) + ": " + describe_errno("stat", failure.value()));
  const auto file = open_bytes(path, nullptr);
  Trailer trailer;
  std::array<char, sizeof trailer> text{};
  std::uint64_t skipped = 0;
  while (skipped + sizeof trailer < bytes) {
    const std::uint64_t count = file->skip(bytes - sizeof trailer - skipped);
    if (count == 0) break;
    skipped += count;
  }
  if (read_fully(*file, text) < text.size()) throw CorruptInput(kIndex, "the end of the file");
  std::memcpy(&trailer, text.data(), sizeof trailer);
  if (!trailer.is_whole()) throw CorruptInput(kIndex, "something else");
  return trailer;
}

}  // namespace

std::vector<IndexEntry> read_index(const std::string& path, const ReadOptions& options) {
  const Trailer trailer = read_trailer(path);
  BinaryReader blocks(open_bytes(path, nullptr), options);
  blocks.read_header();
  return blocks.read_index(trailer.index);
}

bool is_text_file(const Shard& shard) {
  if (!shard.regular || shard.bytes == 0) return false;
  try {
    PeekedSource source(open_bytes(shard.path, nullptr));
    return !is_binary_shard(source.peek(kBinaryMagicBytes, may_be_binary_shard));
  } catch (const Error&) {
    return false;
  }
}

namespace {

// 0 if the shard does not record it. Damage is reported when the shard is read.
std::uint64_t text_bytes_of_binary(const std::string& path) {
  try {
    const ReadOptions any;  // the index does not depend on them
    BinaryReader blocks(open_bytes(path, nullptr), any);
    blocks.read_index(read_trailer(path).index);
    return blocks.text_bytes();
  } catch (const Error&) {
    return 0;
  }
}

}  // namespace

std::uint64_t estimated_text_bytes(const Shard& shard) {
  if (!shard.regular) return 0;
  const bool compressed = !can_be_split(shard);
  if (!compressed && (shard.bytes == 0 || is_text_file(shard))) return shard.bytes;
  const std::uint64_t known = compressed ? 0 : text_bytes_of_binary(shard.path);
  return known > 0 ? known : shard.bytes * kTextPerCompressedByte;
}

std::uint64_t list_at(const Shard& shard, std::uint64_t bytes, const ReadOptions& options) {
  try {
    if (!can_be_split(shard)) return 0;  // compressed: offsets are bytes of the content, not of the file
    const std::vector<IndexEntry> index = read_index(shard.path, options);
    const auto after = std::ranges::upper_bound(index, bytes, {}, &IndexEntry::offset);
    return after == index.begin() ? 0 : std::prev(after)->list;
  } catch (const Error&) {
    return 0;
  }
}

}  // namespace cpt
